import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { Session } from "node:inspector";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { MethodSignature } from "./model/signature.ts";
import { SignatureError } from "./model/signature-error.ts";
import { readSignatures } from "./reader.ts";
import type { ControllerClass } from "./source/class-sources.ts";

function load(name: string): Promise<Record<string, ControllerClass>> {
  return import(new URL(`../../test/fixtures/signature/${name}`, import.meta.url).href);
}

function read(controller: ControllerClass, verb: string): MethodSignature {
  return readSignatures([{ controller, verb }])[0]!;
}

/** A short form of a signature: `id: number, keywords: object` */
function shortly({ parameters }: MethodSignature): string {
  return parameters.map(({ role, name, type }) => `${role} ${name}: ${type.kind}`).join(", ");
}

function placeOf({ location: { file, line, column } }: MethodSignature): string {
  return `${file.split("/").at(-1)}:${line}:${column}`;
}

suite("methods are found at V8's positions", () => {
  const rows: readonly (readonly [
    file: string,
    name: string,
    verb: string,
    signature: string,
    place: string,
  ])[] = [
    [
      "controllers.ts",
      "Plain",
      "GET",
      "positional id: number, keywords keywords: object",
      "controllers.ts:6:3",
    ],
    ["controllers.ts", "Plain", "POST", "keywords it: object", "controllers.ts:10:3"],
    ["controllers.ts", "Plain", "PUT", "positional id: boolean", "controllers.ts:14:3"],
    ["controllers.ts", "Plain", "M-SEARCH", "positional text: string", "controllers.ts:18:3"],
    ["controllers.ts", "Derived", "GET", "positional id: number", "base.ts:4:3"],
    ["controllers.ts", "Derived", "PATCH", "positional id: date", "controllers.ts:24:3"],
    ["controllers.ts", "Mixed", "LIST", "keywords keywords: object", "base.ts:17:5"],
    ["controllers.ts", "Mixed", "DELETE", "positional id: bigint", "base.ts:8:3"],
    ["controllers.ts", "Wrapped", "GET", "positional id: url", "controllers.ts:34:18"],
    ["controllers.ts", "Wrapped", "ARROW", "positional id: bigint", "controllers.ts:41:60"],
    ["reexport.ts", "Renamed", "PATCH", "positional id: date", "controllers.ts:24:3"],
    ["reexport.ts", "Anonymous", "GET", "positional id: number, positional name: string", "base.ts:23:3"],
    ["base.ts", "default", "DELETE", "positional id: bigint", "base.ts:8:3"],
    ["plain.js", "Plain", "GET", "positional id: untyped, keywords keywords: object", "plain.js:2:3"],
    ["plain.js", "Plain", "POST", "keywords keywords: object, rest rest: untyped", "plain.js:6:3"],
    ["mark.ts", "Mark", "GET", "positional id: number", "mark.ts:1:21"],
    ["mark.ts", "Second", "GET", "positional id: boolean", "mark.ts:4:3"],
  ];
  for (const [file, name, verb, signature, place] of rows) {
    test(`${file} ${name}.${verb}`, async () => {
      const found = read((await load(file))[name]!, verb);
      assert.deepEqual([found.verb, shortly(found), placeOf(found)], [verb, signature, place]);
    });
  }

  test("several signatures come in the order of the requests", async () => {
    const { Plain, Derived } = await load("controllers.ts");
    const found = readSignatures([
      { controller: Derived!, verb: "GET" },
      { controller: Plain!, verb: "GET" },
      { controller: Derived!, verb: "DELETE" },
    ]);
    assert.deepEqual(found.map(shortly), [
      "positional id: number",
      "positional id: number, keywords keywords: object",
      "positional id: bigint",
    ]);
  });

  test("an empty list of requests has no signatures", () => {
    assert.deepEqual(readSignatures([]), []);
  });

  test("no inspector session stays open", async () => {
    const before = Reflect.ownKeys(globalThis).length;
    read((await load("controllers.ts")).Plain!, "GET");
    assert.equal(Reflect.ownKeys(globalThis).length, before);
  });

  test("a signature is plain JSON", async () => {
    const found = read((await load("controllers.ts")).Plain!, "POST");
    assert.deepEqual(JSON.parse(JSON.stringify(found)), found);
  });
});

suite("the fast lookup finds the file of a method", () => {
  /** Records the inspector's calls from now on. The call named `lost` returns nothing. */
  const asked = (context: TestContext, lost = ""): string[] => {
    const methods: string[] = [];
    const post = Session.prototype.post;
    context.mock.method(
      Session.prototype,
      "post",
      function (this: Session, ...[method, ...rest]: Parameters<typeof post>) {
        methods.push(method);
        if (method !== lost) return post.call(this, method, ...rest);
        const answer = rest.at(-1) as (error: null, result: object) => void;
        return answer(null, { result: [] });
      },
    );
    return methods;
  };
  const requests = async () => {
    const controllers = await load("controllers.ts");
    const { Plain } = await load("plain.js");
    const { Second } = await load("mark.ts");
    const { Anonymous } = await load("reexport.ts");
    return [
      ...["GET", "POST", "PUT", "M-SEARCH"].map((verb) => ({ controller: controllers.Plain!, verb })),
      { controller: controllers.Derived!, verb: "DELETE" },
      { controller: controllers.Mixed!, verb: "LIST" },
      { controller: Plain!, verb: "POST" },
      { controller: Second!, verb: "GET" },
      { controller: Anonymous!, verb: "GET" },
    ];
  };

  test("the lookup does not need the list of all scripts", async (context) => {
    const all = await requests();
    const methods = asked(context);
    assert.equal(readSignatures(all).length, all.length);
    assert.ok(methods.includes("Profiler.getBestEffortCoverage"));
    assert.ok(!methods.includes("Debugger.enable"));
  });
  test("the lookup uses that list if V8 does not know that a script ran", async (context) => {
    const all = await requests();
    const expected = readSignatures(all);
    const methods = asked(context, "Profiler.getBestEffortCoverage");
    assert.deepEqual(readSignatures(all), expected);
    assert.ok(methods.includes("Debugger.enable"));
  });
  test("misplaced verbs are found, also in a class without methods", async () => {
    const { Field, Child } = await load("misplaced.ts");
    assert.throws(() => readSignatures([], { controllers: [Field!] }), { code: "MISPLACED_VERB" });
    assert.throws(() => readSignatures([], { controllers: [Child!] }), { code: "MISPLACED_VERB" });
  });
  test("two files that differ only in their types are distinguished", async (context) => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "waymark-reader-")));
    context.after(() => rm(folder, { recursive: true }));
    const signatures: string[] = [];
    for (const type of ["number", "string"]) {
      const file = join(folder, `${type}.mts`);
      await writeFile(file, `export class Twin { GET(id: ${type}) { return id; } }`);
      const { Twin } = (await import(pathToFileURL(file).href)) as Record<string, ControllerClass>;
      signatures.push(shortly(read(Twin!, "GET")));
    }
    assert.deepEqual(signatures, ["positional id: number", "positional id: string"]);
  });
});

suite("a method without a source is an error", () => {
  const rows: readonly (readonly [verb: string, message: RegExp])[] = [
    ["BOUND", /Wrapped\.BOUND has no source file: it is a bound or native function.*waymark build/],
    ["TEXT", /Wrapped\.TEXT has no source file: it was loaded from text/],
    ["NOTHING", /Wrapped has no method NOTHING/],
  ];
  for (const [verb, message] of rows) {
    test(verb, async () => {
      const { Wrapped } = await load("controllers.ts");
      assert.throws(() => read(Wrapped!, verb), { code: "UNREADABLE_SOURCE", message });
    });
  }

  test("a file that differs from the running code is an error", async (context) => {
    const folder = await mkdtemp(join(tmpdir(), "waymark-reader-"));
    context.after(() => rm(folder, { recursive: true }));
    const file = join(folder, "changed.mjs");
    await writeFile(file, "export class Changed { GET(id) {} }");
    const { Changed } = (await import(pathToFileURL(file).href)) as Record<string, ControllerClass>;
    await writeFile(file, "// pushed down\nexport class Changed { GET(id) {} }");
    assert.throws(() => read(Changed!, "GET"), {
      code: "UNREADABLE_SOURCE",
      message: /changed\.mjs:1:27: Changed\.GET is not at the position that Node reports.*waymark build/,
    });
  });

  test("an inspector without permission is an error", async (context) => {
    const { Plain } = await load("plain.js");
    context.mock.method(Session.prototype, "connect", () => {
      throw new Error("Use --allow-inspector to manage permissions.");
    });
    assert.throws(() => read(Plain!, "GET"), {
      code: "UNREADABLE_SOURCE",
      message:
        /is not available: Use --allow-inspector to manage permissions\. Or build a manifest with `waymark build`/,
    });
  });
});

suite("compiled JavaScript without a manifest prevents startup", () => {
  const load2 = async (context: TestContext, files: Readonly<Record<string, string>>) => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "waymark-compiled-")));
    context.after(() => rm(folder, { recursive: true }));
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const [main] = Object.keys(files);
    return (await import(pathToFileURL(join(folder, main!)).href)) as Record<string, ControllerClass>;
  };
  const CLASS = "export class A { GET(id) { return id; } }\n";
  const refused: readonly (readonly [what: string, files: Readonly<Record<string, string>>, sign: RegExp])[] =
    [
      [
        "a comment at its end",
        { "a.mjs": `${CLASS}//# sourceMappingURL=a.mjs.map` },
        /its source map comment/,
      ],
      [
        "a comment with the map itself",
        { "a.mjs": `${CLASS}//# sourceMappingURL=data:application/json;base64,e30=\n` },
        /its source map comment/,
      ],
      [
        "a comment that is not last",
        { "a.mjs": `//# sourceMappingURL=a.mjs.map\n${CLASS}` },
        /source map comment/,
      ],
      ["a block comment", { "a.mjs": `${CLASS}/*# sourceMappingURL=a.mjs.map */` }, /source map comment/],
      ["the old form", { "a.mjs": `${CLASS}//@ sourceMappingURL=a.mjs.map` }, /source map comment/],
      ["its declarations", { "a.mjs": CLASS, "a.d.mts": "" }, /a\.d\.mts beside it/],
      ["its source", { "a.mjs": CLASS, "a.mts": "" }, /a\.mts beside it/],
      [
        "declarations of .js",
        { "a.js": CLASS, "a.d.ts": "", "package.json": '{"type":"module"}' },
        /a\.d\.ts/,
      ],
      ["a .tsx source", { "a.js": CLASS, "a.tsx": "", "package.json": '{"type":"module"}' }, /a\.tsx/],
      [
        "of a base class",
        {
          "a.mjs": 'import { Base } from "./base.mjs"; export class A extends Base {}',
          "base.mjs": "export class Base { GET(id) { return id; } }",
          "base.d.mts": "",
        },
        /base\.mjs was compiled \(base\.d\.mts beside it shows it\)/,
      ],
    ];
  for (const [what, files, sign] of refused) {
    test(what, async (context) => {
      const { A } = await load2(context, files);
      assert.throws(
        () => read(A!, "GET"),
        (error) => {
          assert.ok(error instanceof SignatureError);
          assert.equal(error.code, "COMPILED_SOURCE");
          assert.match(error.message, sign);
          assert.match(error.message, /^\/.*\.m?js:\d+:\d+: A\.GET cannot be read: .*which erased its types/);
          assert.match(error.message, /Run the unchanged sources, or build a manifest with `waymark build`/);
          return true;
        },
      );
    });
  }
  test("handwritten JavaScript is read", async (context) => {
    const text = `const note = "//# sourceMappingURL=a.map";\n${CLASS}// see sourceMappingURL= in the manual\n`;
    const { A } = await load2(context, { "a.mjs": text, "b.d.mts": "" });
    assert.equal(shortly(read(A!, "GET")), "positional id: untyped");
  });
});

test("a warning appears once, even if several methods share its type", async (context) => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "waymark-warned-")));
  context.after(() => rm(folder, { recursive: true }));
  const file = join(folder, "warned.mts");
  await writeFile(
    file,
    "/** @pattern ^(a+)+$ */\ntype Name = string;\nexport class A { GET(it: Name) { return it; } PUT(it: Name) { return it; } }",
  );
  const { A } = (await import(pathToFileURL(file).href)) as Record<string, ControllerClass>;
  const warnings: string[] = [];
  const requests = ["GET", "PUT"].map((verb) => ({ controller: A!, verb }));
  readSignatures(requests, { warn: (message) => warnings.push(message) });
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /warned\.mts:1:5: @pattern \^\(a\+\)\+\$ may backtrack without bound/);
});

suite("verbs that are not methods prevent startup, and the message has their line", () => {
  const rows: readonly (readonly [name: string, message: RegExp])[] = [
    ["Field", /misplaced\.ts:2:3: GET is a field\. A verb must be a method: `GET\(\) \{ \.\.\. \}`/],
    ["Getter", /misplaced\.ts:7:3: GET is an accessor/],
    ["Overloaded", /misplaced\.ts:13:3: GET is overloaded.*Write one signature/],
    ["Computed", /misplaced\.ts:36:3: GET is overloaded/],
    ["Merged", /misplaced\.ts:44:3: GET is overloaded/],
    ["Child", /misplaced\.ts:2:3: GET is a field/],
  ];
  for (const [name, message] of rows) {
    test(name, async () => {
      const controllers = [(await load("misplaced.ts"))[name]!];
      assert.throws(() => readSignatures([], { controllers }), { code: "MISPLACED_VERB", message });
    });
  }
  test("overloads in the comments of JavaScript", async () => {
    const { Separate, Together, Fine } = await load("overloaded.js");
    for (const [controller, line] of [
      [Separate, 8],
      [Together, 20],
    ] as const)
      assert.throws(() => readSignatures([], { controllers: [controller!] }), {
        code: "MISPLACED_VERB",
        message: new RegExp(`overloaded\\.js:${line}:3: GET is overloaded`),
      });
    readSignatures([], { controllers: [Fine!] });
  });
  test("a misplaced verb in the class of a request is an error, too", async () => {
    const { Child } = await load("misplaced.ts");
    assert.throws(() => read(Child!, "POST"), { code: "MISPLACED_VERB" });
  });
  test("constants, declared fields and other names are not verbs", async () => {
    const { Fine } = await load("misplaced.ts");
    assert.equal(shortly(read(Fine!, "POST")), "");
  });
});

suite("workspace links and packages", () => {
  const read2 = async (folder: string, specifier: string): Promise<MethodSignature> => {
    const file = join(folder, "app", `${specifier.replaceAll(/\W/g, "_")}.ts`);
    await writeFile(
      file,
      `import type { Model } from "${specifier}";\nexport class A { POST(it: Model) { return it; } }`,
    );
    const { A } = (await import(pathToFileURL(file).href)) as Record<string, ControllerClass>;
    return read(A!, "POST");
  };
  test("types are resolved through links and packages", async (context) => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "waymark-reader-")));
    context.after(() => rm(folder, { recursive: true }));
    const write = async (path: string, text: string) => {
      await mkdir(join(folder, path, ".."), { recursive: true });
      await writeFile(join(folder, path), text);
    };
    await write("app/package.json", '{ "name": "app", "type": "module" }');
    await write(
      "packages/models/package.json",
      '{ "name": "@own/models", "exports": { ".": "./src/index.ts", "./sub": { "types": "./src/sub.ts", "import": "./dist/sub.js" } } }',
    );
    await write("packages/models/src/index.ts", 'export * from "./sub.ts";');
    await write("packages/models/src/sub.ts", "export interface Model { model: string }");
    await write(
      "app/node_modules/typed/package.json",
      '{ "name": "typed", "types": "./typed.d.ts", "main": "./typed.js" }',
    );
    await write("app/node_modules/typed/typed.d.ts", "export declare interface Model { typed: number }");
    await write("app/node_modules/typed/deep.d.ts", "export interface Model { deep: number }");
    await mkdir(join(folder, "app/node_modules/@own"), { recursive: true });
    await symlink(join(folder, "packages/models"), join(folder, "app/node_modules/@own/models"), "dir");
    const rows = [
      ["@own/models", "model"],
      ["@own/models/sub", "model"],
      ["typed", "typed"],
      ["typed/deep", "deep"],
    ] as const;
    for (const [specifier, property] of rows) {
      const { type } = (await read2(folder, specifier)).parameters[0]!;
      assert.ok(type.kind === "object" && type.properties[0]!.name === property, specifier);
    }
    await assert.rejects(read2(folder, "absent"), { code: "UNREADABLE_TYPE" });
    await assert.rejects(read2(folder, "@own/models/absent"), { code: "UNREADABLE_TYPE" });
  });
});
