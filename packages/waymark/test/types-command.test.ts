import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Application } from "@tollway/waymark";
import { client, type Table } from "@tollway/waymark/client";
import { clientTable } from "../src/declarations/client-table.ts";
import { routeTree } from "../src/declarations/route-tree.ts";
import { standaloneText } from "../src/declarations/standalone.ts";
import type { Api } from "./fixtures/client/api.d.ts";
import { Project } from "./support/project.ts";

const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));
const FIXTURE = fileURLToPath(new URL("fixtures/client", import.meta.url));

test("writes one small declaration file, and leaves an unchanged one alone", async () => {
  const project = new Project({}, undefined, FIXTURE);
  const expected = readFileSync(join(FIXTURE, "api.d.ts"), "utf8");
  const { status, stderr } = await project.run(["types", "--out=api.d.ts"]);
  assert.deepEqual([status, stderr], [0, ""]);
  assert.equal(readFileSync(join(FIXTURE, "api.d.ts"), "utf8"), expected);
});

const BOOKS = `
import { Controller, type Problem, problem } from "@tollway/waymark";
interface Comment { at: Date; replies: Comment[] }
export interface Book { id: number; "the title": string; published: Date; comments?: Comment[] }
export class Default extends Controller {
  /** One book. */
  GET(id: number, { full = false }: { full?: boolean }): Book | Problem<404, { code: string }> {
    if (id !== 1) return problem(404, "no", { code: "NO_BOOK" });
    const at = new Date(0);
    return { id, "the title": String(full), published: at, comments: [{ at, replies: [{ at, replies: [] }] }] };
  }
  PUT(items: number[]): void { void items; }
}
export class ByName extends Controller {
  GET(name: string, ...rest: string[]): { name: string; rest: string[]; by: { [who: string]: Date } } {
    return { name, rest, by: { me: new Date(0) } };
  }
  static Mine = class extends Controller {
    GET(): (string | Date)[] { return ["x", new Date(0)]; }
  };
}
export class Outer extends Controller {
  GET(): number { return 1; }
  static Shown = class extends Controller {
    GET(): string { return ""; }
    static Deep = class extends Controller {
      static override private = true;
      GET(): string { return ""; }
    };
  };
  static Hidden = class extends Controller {
    static override private = true;
    GET(): string { return ""; }
  };
}
export class Secret extends Controller {
  static override private = true;
  GET(): string { return ""; }
}
export class Unwritten extends Controller {
  GET() { return new Date(0); }
  async PATCH() { return this.keywords.all ? [book] : problem(409, "no", { at: 1 }); }
}
const book: Book = { id: 1, "the title": "x", published: new Date(0) };
export class Unclear extends Controller {
  GET() { return JSON.parse("{}"); }
}
`;

function project(files: Record<string, string> = {}): Project {
  const made = new Project({ "controllers/books.ts": BOOKS, ...files });
  symlinkSync(join(REPOSITORY, "node_modules", "@types"), join(made.folder, "node_modules", "@types"));
  return made;
}

/** Runs the compiler over a program, in the strictest form. */
function compile(folder: string, libraries: readonly string[]): string {
  const strict = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--allowImportingTsExtensions"];
  const options = [...strict, "--module", "nodenext", "--target", "es2024", ...libraries];
  const tsc = join(REPOSITORY, "node_modules", ".bin", "tsc");
  const { stdout } = spawnSync(process.execPath, [tsc, ...options, "use.ts", "waymark.api.d.ts"], {
    cwd: folder,
    encoding: "utf8",
  });
  return stdout;
}

const USE = `
import { client } from "@tollway/waymark/client";
import type { Api } from "./waymark.api.d.ts";
export async function use() {
  const api = client<Api>("http://localhost");
  const book = await api.books.GET(1);
  const text: string = book["the title"] + book.published + book.comments?.[0]?.replies[0]?.at;
  const by: string | undefined = (await api.books.by_name.GET("a", "b")).by["me"];
  await api.books.PUT([1]);
  const result = await api.books.GET.safe(1);
  if (result.status === 404) result.problem.code.length;
  // @ts-expect-error: an id is a number
  await api.books.GET("1");
  // @ts-expect-error: a private class has no path
  api.books.secret;
  const outer: number = await api.books.outer.GET();
  const shown: string = await api.books.outer.shown.GET();
  // @ts-expect-error: a private member has no path
  api.books.outer.hidden;
  // @ts-expect-error: nor has a private member of a member
  api.books.outer.shown.deep;
  return text + by + outer + shown;
}
`;

test("the declaration file compiles with a program that uses it", async () => {
  const made = project({ "use.ts": USE });
  assert.equal((await made.run(["types"])).status, 0);
  made.write("package.json", '{ "name": "x", "type": "module" }');
  assert.equal(compile(made.folder, ["--types", "node", "--lib", "esnext"]), "");
});

test("a standalone file compiles in a repository without the server, for a browser", async () => {
  const made = project();
  const other = new Project({ "use.ts": USE });
  const { status } = await made.run(["types", "--standalone", `--out=${other.folder}/waymark.api.d.ts`]);
  assert.equal(status, 0);
  const text = readFileSync(join(other.folder, "waymark.api.d.ts"), "utf8");
  assert.doesNotMatch(text, /import/);
  assert.match(text, /\/\*\* One book\. \*\//);
  assert.match(text, / unwritten: \{\s+GET\(\): Date;/);
  assert.match(
    text,
    /PATCH\(\): \{ id: number; "the title": string; published: Date; comments\?: Type \}\[\] \| Problem<409, \{ at: 1 \}>;/,
  );
  assert.match(text, / unclear: \{\s+GET\(\): unknown;/);
  other.write("package.json", '{ "name": "x", "type": "module" }');
  assert.equal(
    compile(other.folder, ["--types", "", "--lib", "es2024,dom,dom.iterable,dom.asynciterable"]),
    "",
  );
});

interface BooksApi {
  books: {
    GET(
      id: number,
      keywords?: { full?: boolean },
    ): { published: Date; comments: { at: Date; replies: { at: Date }[] }[] };
    PUT(items: number[]): void;
    by_name: {
      GET(name: string, ...rest: string[]): { name: string; rest: string[]; by: { [who: string]: Date } };
      mine: { GET(): (string | Date)[] };
    };
    unwritten: { GET(): Date };
    unclear: { GET(): Date };
  };
}

test("the table places arguments, and says where dates are", async () => {
  const made = project();
  const { folder } = made;
  const { status, stderr } = await made.run(["types", "--table=table.mjs"]);
  assert.deepEqual([status, stderr], [0, "wrote waymark.api.d.ts\nwrote table.mjs\n"]);
  const { table } = (await import(join(folder, "table.mjs"))) as { table: Table };
  const { url, stop } = await made.start(["--host=127.0.0.1:0", "--quiet"]);
  const sent: string[] = [];
  const fetch = async (request: Request) => {
    sent.push(`${request.method} ${request.url.slice(url.length)} ${await request.clone().text()}`.trim());
    return globalThis.fetch(request);
  };
  const api = client<BooksApi>(url, { fetch, table, revive: true });
  const at = new Date(0);
  assert.deepEqual(await api.books.GET(1), {
    id: 1,
    "the title": "false",
    published: at,
    comments: [{ at, replies: [{ at, replies: [] }] }],
  });
  await api.books.PUT([1, 2]);
  const named = { rest: [], by: { me: at } };
  assert.deepEqual(await api.books.by_name.GET("mine"), { name: "mine", ...named });
  assert.deepEqual(await api.books.by_name.GET(".."), { name: "..", ...named });
  assert.deepEqual(await api.books.by_name.GET("a", "b"), { name: "a", ...named, rest: ["b"] });
  assert.deepEqual(await api.books.by_name.mine.GET(), ["x", at]);
  assert.deepEqual(await api.books.unwritten.GET(), at);
  assert.deepEqual(sent, [
    "GET /books/1",
    'PUT /books {"items":[1,2]}',
    "GET /books/by-name?name=mine",
    "GET /books/by-name?name=..",
    "GET /books/by-name/a/b",
    "GET /books/by-name/mine",
    "GET /books/unwritten",
  ]);
  await assert.rejects(
    api.books.by_name.GET("mine", "b"),
    /GET \/books\/by-name: the argument "b" \(number 2\)/,
  );
  await assert.rejects(
    api.books.GET(...([1, {}, 2] as unknown as [number])),
    /GET \/books has 2 parameters, not 3/,
  );
  await assert.rejects(api.books.unclear.GET(), /Write the return type of the method/);
  await stop();
});

test("the table replaces the general rule in the cases where it is wrong", async () => {
  const application = new Application({ controllerPrefix: "controllers", directory: FIXTURE });
  const table = clientTable(routeTree(await application.load()));
  const api = client<Api>("http://localhost", { fetch: application.fetch, table });
  assert.deepEqual(await api.shapes.POST({ x: 1 }, { to: { x: 2 } }), { from: { x: 1 }, to: { x: 2 } });
  assert.deepEqual(await api.slugs.GET("special", "b", { mark: "m" }), ["special", "b", "m"]);
  assert.deepEqual(await api.slugs.GET("", undefined, { mark: "m" }), ["", "none", "m"]);
  const texts: string[] = [];
  for await (const text of await api.stream_forms.texts.GET()) texts.push(text);
  assert.equal(texts.join(""), "one two");
});

test("neither the table nor a standalone file has the OpenAPI document and its page", async () => {
  const options = { controllerPrefix: "controllers", directory: FIXTURE };
  const trees = [];
  for (const openapi of [false, { path: "/api.json", page: "/viewer" }])
    trees.push(routeTree(await new Application({ ...options, openapi }).describe()));
  const [without, both] = trees;
  assert.deepEqual(clientTable(both!), clientTable(without!));
  assert.equal(standaloneText(both!), standaloneText(without!));
});

test("a watched server keeps both files up to date", async () => {
  const made = project();
  const args = ["--watch", "--host=127.0.0.1:0", "--types=api.d.ts", "--table=table.ts"];
  const serving = await made.start(args);
  await serving.printed(/wrote table\.ts/);
  assert.match(readFileSync(join(made.folder, "table.ts"), "utf8"), /"unwritten": \{\n\s*"GET": .*"dates":1/);
  assert.match(readFileSync(join(made.folder, "api.d.ts"), "utf8"), /books/);
  made.write(
    "controllers/authors.ts",
    'import { Controller } from "@tollway/waymark";\nexport class Default extends Controller { GET(id: string): string { return id; } }\n',
  );
  await serving.printed(/(wrote api\.d\.ts[\s\S]*){2}(wrote table\.ts[\s\S]*){1}/);
  assert.match(readFileSync(join(made.folder, "api.d.ts"), "utf8"), /authors/);
  await serving.stop();
});

test("an error names the option and the remedy", async () => {
  const made = project({
    "app.ts": `import { Application } from "@tollway/waymark";
import { Default } from "./controllers/books.ts";
export const application = new Application({ controllers: { Default } });`,
  });
  const rows = [
    [["types", "--out=none/api.d.ts"], /--out=none\/api\.d\.ts: the folder .*none does not exist/],
    [["types", "--app=app.ts"], /write it with --standalone/],
  ] as const;
  for (const [args, message] of rows) {
    const { status, stderr } = await made.run(args);
    assert.equal(status, 2);
    assert.match(stderr, message);
  }
  assert.equal((await made.run(["types", "--app=app.ts", "--standalone"])).status, 0);
  assert.ok(existsSync(join(made.folder, "waymark.api.d.ts")));
});
