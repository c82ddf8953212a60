/** Signatures of classes that Node has loaded, as an application reads them. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { BindFaults } from "./bind/bind-faults.ts";
import { compileBinder } from "./bind/binder.ts";
import { CompiledFiles } from "./compiled.fixture.ts";
import { loadTypeScript } from "./compiler/load-typescript.ts";
import type { MethodSignature } from "./model/signature.ts";
import { readSignatures } from "./reader.ts";
import { AbstractClasses } from "./source/abstract-classes.ts";
import type { ControllerClass } from "./source/class-sources.ts";

const files = new CompiledFiles({
  "package.json": '{ "type": "module" }',
  "tsconfig.json": '{ "extends": "./config/base.json", "files": ["globals.d.ts"] }',
  "config/base.json":
    '{ "compilerOptions": { "strict": false, "baseUrl": "..", "paths": { "@models/*": ["./shared/*"] } } }',
  "shared/thing.ts": "export interface Thing { id: number }",
  "globals.d.ts": "interface Ambient { id: number } interface Widened { extra: string }",
  "crud.ts": `
    export class Crud<T> { PUT(it: T) { return it; } PATCH(it: Partial<T>) { return it; } }
    export class Bounded<T extends { id: number }, Key = string> { PUT(it: T) { return it; } GET(key: Key) { return key; } }
    export class Named<T> extends Bounded<T & { id: number }, number> {}
    export const mixin = <T>(_: T) => class { PUT(it: T) { return it; } };
  `,
  "books.ts": `
    import { Bounded, Crud, mixin, Named } from "./crud.ts";
    export interface Book { id: number; title: string }
    export class Books extends Crud<Book> {}
    export class Titles extends Crud<Book["title"][]> {}
    export class Bound extends Bounded<Book> {}
    export class Deep extends Named<{ title: string }> {}
    export class Mixed extends mixin({ id: 1, title: "x" }) {}
    export class Open extends Crud {}
    export class Generic<T> extends Crud<T> {}
    const Alias = Crud;
    export class Aliased extends Alias<Book> {}
  `,
  "augmented.ts": `
    import "./augment.ts";
    import type { Thing } from "./thing.ts";
    export class Things { POST(it: Thing) { return it; } }
  `,
  "thing.ts": "export interface Thing { id: number }",
  "augment.ts":
    'import type {} from "./thing.ts"; declare module "./thing.ts" { interface Thing { added: string } }',
  "project.ts": `
    import type { Thing } from "@models/thing.ts";
    import type { Thing as Bare } from "shared/thing.ts";
    export class Project { PATCH(it: Bare) { return it; } POST(it: Thing) { return it; } PUT(it: Ambient) { return it; } }
  `,
  "plain.mjs": `
    /** @typedef {{ id: number, title?: string }} Book */
    export class Plain {
      /** @param {number} id @minimum 1 */
      GET(id) { return id; }
      /**
       * @param {Book} book
       * @param {?string} [note]
       */
      POST(book, note) { return { book, note }; }
      PUT(/** @type {boolean} */ it) { return it; }
      /** @param {{ a: number, b?: string }} options */
      PATCH({ a, b }) { return a; }
      /** @param {Array.<number>} list */
      DELETE(list) { return list; }
      HEAD(text) { return text; }
    }
    export class Nested {
      /**
       * @param {object} form The form
       * @param {number} [form.count=1]
       * @param {Object} form.owner
       * @param {string} form.owner.name
       * @param {object[]} form.tags
       * @param {string} form.tags[].name
       * @param {string} form.title The title @minLength 2
       */
      POST({ title, count = 1, owner, tags }) { return { title, count, owner, tags }; }
      /**
       * @param {number} id
       * @param {Object} [options]
       * @param {boolean} options.verbose
       */
      GET(id, options) { return { id, options }; }
      /** @param {object} anything */
      PUT(anything) { return anything; }
      /**
       * @param {object} form
       * @param {?string} form.note
       */
      PATCH({ note }) { return note; }
    }
  `,
  "old/node_modules/typescript/package.json": '{ "name": "typescript", "version": "5.9.3" }',
  "abstract.ts": "export abstract class Shared {} export const other = class Shared {};",
  "default.ts": `
    import { settings } from "./settings.ts";
    export class Defaults { GET(page = settings.page) { return page; } }
  `,
  "settings.ts": "const load = () => ({ page: 1 }); export const settings = load();",
});
after(() => files.close());

async function read(file: string, name: string, verb: string, compiler = true): Promise<MethodSignature> {
  const module = (await import(pathToFileURL(files.path(file)).href)) as Record<string, ControllerClass>;
  return readSignatures([{ controller: module[name]!, verb }], { compiler })[0]!;
}

/** Whether a body with the parameters by name is accepted. */
function accepts(signature: MethodSignature, body: object): boolean {
  const result = compileBinder(signature).bind({
    segments: [],
    query: "",
    body: { kind: "json", value: body },
  });
  return !(result instanceof BindFaults);
}

const BOOK = { id: 1, title: "x" };

suite("a generic base class has the type arguments of the derived class", () => {
  const rows: readonly (readonly [
    name: string,
    verb: string,
    accepted: object,
    refused: object,
    source: boolean,
  ])[] = [
    ["Books", "PUT", BOOK, { id: "x" }, true],
    ["Books", "PATCH", { title: "x" }, { title: 1 }, true],
    ["Titles", "PUT", { it: ["a"] }, { it: [1] }, true],
    ["Bound", "PUT", BOOK, { id: 1 }, true],
    ["Bound", "GET", { key: "x" }, { key: 1 }, true],
    ["Deep", "PUT", BOOK, { title: "x" }, true],
    ["Deep", "GET", { key: 1 }, { key: "x" }, true],
    ["Mixed", "PUT", BOOK, { id: "x", title: "x" }, false],
    ["Aliased", "PUT", BOOK, { id: "x" }, false],
  ];
  for (const [name, verb, accepted, refused, source] of rows) {
    test(`${name}.${verb}`, async () => {
      const signature = await read("books.ts", name, verb);
      assert.ok(accepts(signature, accepted), "refused a fitting body");
      assert.ok(!accepts(signature, refused), "accepted a body that does not fit");
      const alone = read("books.ts", name, verb, false);
      if (source) assert.deepEqual((await alone).parameters, signature.parameters);
      else await assert.rejects(alone, { code: "UNREADABLE_TYPE" });
    });
  }
  test("without an argument, the start fails with the place", async () => {
    await assert.rejects(read("books.ts", "Open", "PUT"), {
      code: "UNREADABLE_TYPE",
      message: /crud\.ts:2:36: cannot read the type `T`: /,
    });
  });
  test("a generic controller has no argument", async () => {
    await assert.rejects(read("books.ts", "Generic", "PUT"), { code: "UNREADABLE_TYPE" });
  });
});

suite("types that other files declare", () => {
  test("a module that adds members", async () => {
    const signature = await read("augmented.ts", "Things", "POST");
    assert.ok(accepts(signature, { id: 1, added: "x" }));
    assert.ok(!accepts(signature, { id: 1 }));
    await assert.rejects(read("augmented.ts", "Things", "POST", false), /another module adds members to it/);
  });
  test("paths and globals of tsconfig.json, with strict checks although it turns them off", async () => {
    const thing = await read("project.ts", "Project", "POST");
    assert.ok(accepts(thing, { id: 1 }));
    assert.ok(!accepts(thing, { id: null }));
    for (const verb of ["PUT", "PATCH"]) {
      const signature = await read("project.ts", "Project", verb);
      assert.ok(accepts(signature, { id: 1 }));
      assert.ok(!accepts(signature, { id: "x" }));
    }
  });
  test("a default value from another module", async () => {
    const { parameters } = await read("default.ts", "Defaults", "GET");
    assert.deepEqual(parameters[0]!.type, { kind: "number" });
    await assert.rejects(read("default.ts", "Defaults", "GET", false), /cannot derive the type/);
  });
});

suite("JSDoc types in plain JavaScript", () => {
  const rows: readonly (readonly [
    verb: string,
    accepted: object,
    refused: object | undefined,
    source: boolean,
  ])[] = [
    ["GET", { id: 1 }, { id: 0 }, true],
    ["GET", { id: 1 }, { id: "x" }, true],
    ["POST", { book: BOOK }, { book: { id: "x" } }, false],
    ["POST", { book: BOOK, note: null }, { book: BOOK, note: 1 }, false],
    ["PUT", { it: true }, { it: "x" }, true],
    ["PATCH", { a: 1 }, { a: "x" }, true],
    ["PATCH", { a: 1, b: "x" }, { a: 1, b: 1 }, true],
    ["DELETE", { list: [1] }, { list: ["x"] }, false],
    ["HEAD", { text: "x" }, undefined, true],
  ];
  for (const [verb, accepted, refused, source] of rows) {
    test(`${verb} ${JSON.stringify(accepted)}`, async () => {
      const signature = await read("plain.mjs", "Plain", verb, !source);
      assert.ok(accepts(signature, accepted), JSON.stringify(signature.parameters));
      if (refused) assert.ok(!accepts(signature, refused), JSON.stringify(signature.parameters));
      if (!source) await assert.rejects(read("plain.mjs", "Plain", verb, false), { code: "UNREADABLE_TYPE" });
    });
  }
});

suite("the members of an object in JSDoc have tags of their own", () => {
  const FORM = { title: "ab", count: 2, owner: { name: "x" }, tags: [{ name: "y" }] };
  const rows: readonly (readonly [what: string, body: object, accepted: boolean])[] = [
    ["all members", FORM, true],
    ["without an optional member", { ...FORM, count: undefined }, true],
    ["without a member", { ...FORM, title: undefined }, false],
    ["a member of another type", { ...FORM, count: "many" }, false],
    ["a member that a refinement refuses", { ...FORM, title: "a" }, false],
    ["a member of a member", { ...FORM, owner: {} }, false],
    ["a member of an item", { ...FORM, tags: [{}] }, false],
  ];
  for (const compiler of [false, true])
    for (const [what, body, accepted] of rows)
      test(`${what}${compiler ? ", with the compiler" : ""}`, async () => {
        const signature = await read("plain.mjs", "Nested", "POST", compiler);
        assert.equal(accepts(signature, JSON.parse(JSON.stringify(body))), accepted);
      });

  test("the compiler agrees", async () => {
    const module = (await import(pathToFileURL(files.path("plain.mjs")).href)) as Record<
      string,
      ControllerClass
    >;
    for (const verb of ["POST", "GET", "PUT"])
      readSignatures([{ controller: module.Nested!, verb }], { compiler: true, verify: true });
  });

  test("a named object, a member that only the compiler reads, an object without members", async () => {
    const options = await read("plain.mjs", "Nested", "GET", false);
    assert.ok(accepts(options, { id: 1, verbose: true }));
    assert.ok(!accepts(options, { id: 1, verbose: "x" }));
    const note = await read("plain.mjs", "Nested", "PATCH");
    assert.ok(accepts(note, { note: null }));
    assert.ok(!accepts(note, { note: 1 }));
    await assert.rejects(read("plain.mjs", "Nested", "PATCH", false), { code: "UNREADABLE_TYPE" });
    assert.ok(accepts(await read("plain.mjs", "Nested", "PUT", false), { any: 1 }));
  });
});

test("another major version of TypeScript is an error that names the right one", () => {
  assert.throws(() => loadTypeScript(files.path("old"), "typescript/unstable/sync"), {
    name: "CompilerUnavailable",
    message:
      /^TypeScript 5\.9\.3 is installed in .*old.node_modules.typescript: run `npm i -D typescript@7\.\d+\.\d+`$/,
  });
});

test("the compiler ends with the start", async () => {
  // Only the compiler knows these types.
  await read("books.ts", "Mixed", "PUT");
  await assert.rejects(read("books.ts", "Open", "PUT"));
  while (process.getActiveResourcesInfo().includes("ProcessWrap")) await setImmediate();
});

test("a class is abstract by its position, not by its name", async () => {
  const { Shared, other } = (await import(pathToFileURL(files.path("abstract.ts")).href)) as Record<
    string,
    ControllerClass
  >;
  const classes = new AbstractClasses([files.path("abstract.ts")]);
  assert.deepEqual([classes.has(Shared!), classes.has(other!)], [true, false]);
});
