/** An application compiled by tsc, and one bundled and minified by esbuild, pass the same cases as the source. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Application, Controller } from "@tollway/waymark";
import { build } from "esbuild";
import { CONTROLLERS } from "./support/first-minute.ts";
import { Project } from "./support/project.ts";
import type { Driver } from "./table/case.ts";
import { requestOf } from "./table/case.ts";
import { cases } from "./table/cases.ts";
import { checkAnswer } from "./table/check.ts";
import { fetchDriver } from "./table/drivers.ts";

const project = new Project({
  "app.ts": `import { Application } from "@tollway/waymark";
import { manifest } from "./manifest.ts";

export const application = new Application({
  manifest,
  cors: { origins: ["https://app.example"], credentials: true, exposeHeaders: ["x-made"] },
  log: () => undefined,
});
`,
  // tsc compiles to ES modules, so a built project declares that type.
  "package.json": '{ "name": "x", "type": "module" }',
  "tsconfig.json": JSON.stringify({
    compilerOptions: {
      target: "es2024",
      module: "nodenext",
      outDir: "out",
      rewriteRelativeImportExtensions: true,
      allowJs: true,
      skipLibCheck: true,
      types: ["node"],
      typeRoots: [join(rootModules(), "@types")],
      // The package's own sources are not part of this program.
      noCheck: true,
    },
    files: ["app.ts"],
  }),
});

/** The folder of the repository's development dependencies. */
function rootModules(): string {
  return dirname(dirname(createRequire(import.meta.url).resolve("fast-check/package.json")));
}

before(async () => {
  cpSync(
    fileURLToPath(new URL("fixtures/table/controllers", import.meta.url)),
    join(project.folder, "controllers"),
    {
      recursive: true,
    },
  );
  const { status, stderr } = await project.run(["build", "--out=manifest.ts"]);
  assert.equal(status, 0, stderr);
});

async function runAll(driver: Driver): Promise<void> {
  for (const row of cases) {
    if (row.except?.fetch !== undefined) continue;
    try {
      checkAnswer(row, await driver(requestOf(row)));
    } catch (error) {
      throw new Error(`${row.name}: ${(error as Error).message}`, { cause: error });
    }
  }
}

async function applicationOf(file: string): Promise<Application> {
  const { application } = (await import(pathToFileURL(file).href)) as { application: Application };
  await application.ready();
  return application;
}

test("an application that tsc has compiled serves its manifest", async () => {
  execFileSync(join(rootModules(), ".bin", "tsc"), ["-p", "tsconfig.json"], { cwd: project.folder });
  await runAll(fetchDriver((await applicationOf(join(project.folder, "out", "app.js"))).fetch));
});

test("esbuild bundles and minifies the application with the framework, without the parser", async () => {
  const outfile = join(project.folder, "bundle", "app.mjs");
  await build({
    entryPoints: [join(project.folder, "app.ts")],
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    outfile,
    external: ["@fastify/*"],
    logLevel: "silent",
  });
  symlinkSync(join(rootModules(), "@fastify"), join(project.folder, "node_modules", "@fastify"));
  await runAll(fetchDriver((await applicationOf(outfile)).fetch));
});

test("a bundle for a worker has the package's entry with web interfaces only", async () => {
  const outfile = join(project.folder, "worker", "app.mjs");
  const { metafile } = await build({
    entryPoints: [join(project.folder, "app.ts")],
    bundle: true,
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["workerd"],
    format: "esm",
    outfile,
    // The controllers of the table use these modules. Waymark itself uses none.
    external: ["node:*"],
    metafile: true,
    logLevel: "silent",
  });
  for (const [file, { imports }] of Object.entries(metafile.inputs))
    for (const { path } of imports)
      assert.ok(!path.startsWith("node:") || /\/controllers\//.test(file), `${file} imports ${path}`);
  await runAll(fetchDriver((await applicationOf(outfile)).fetch));
});

test("the command line starts a manifest, and a stale one prevents startup", async () => {
  const own = new Project({ "controllers.ts": CONTROLLERS });
  assert.equal((await own.run(["build", "--out=manifest.ts"])).status, 0);
  const serving = await own.start(["--manifest=manifest.ts", "--host=127.0.0.1:0"]);
  assert.deepEqual(await (await fetch(`${serving.url}/foo/12`)).json(), { id: 12, verbose: false });
  assert.match(serving.stdout(), /GET {3}\/foo\/<id: number>/);
  await serving.stop();
  own.write("controllers.ts", `${CONTROLLERS}\n// changed\n`);
  const stale = await own.run(["--manifest=manifest.ts"]);
  assert.equal(stale.status, 1);
  assert.match(
    stale.stderr,
    /the manifest is stale: .*controllers\.ts \(controllers\) has changed since: run "waymark build" again/,
  );
});

test("a manifest contains the types that the compiler read, and the files that it read", async () => {
  const own = new Project({
    "controllers.ts": `import { Controller } from "@tollway/waymark";
import type { Change } from "./types/change.ts";
import type { Book } from "./types/book.ts";
export class Default extends Controller { PATCH(change: Change<Book>) { return change; } }`,
    "types/change.ts": "export type Change<T> = T extends object ? { [K in keyof T]?: T[K] } : never;",
    "types/book.ts": "export interface Book { id: number }",
  });
  const built = await own.run(["build"]);
  assert.equal(built.status, 0, built.stderr);
  const serving = await own.start(["--manifest=waymark.manifest.ts", "--host=127.0.0.1:0"]);
  const patch = async (body: object): Promise<number> => {
    const headers = { "content-type": "application/json" };
    const request = { method: "PATCH", headers, body: JSON.stringify(body) };
    const answer = await fetch(serving.url, request);
    await answer.text();
    return answer.status;
  };
  assert.equal(await patch({ id: 1 }), 200);
  assert.equal(await patch({ id: "x" }), 400);
  await serving.stop();
  const manifest = readFileSync(join(own.folder, "waymark.manifest.ts"), "utf8");
  assert.match(manifest, /"name":"typescript","version":"\d+\.\d+\.\d+"/);
  for (const [file, text] of [
    ["types/change.ts", "export type Change<T> = T;"],
    ["types/book.ts", "export interface Book { id: string }"],
  ] as const) {
    const before = readFileSync(join(own.folder, file), "utf8");
    own.write(file, text);
    const { status, stderr } = await own.run(["routes", "--manifest=waymark.manifest.ts"]);
    assert.equal(status, 1);
    assert.match(stderr, new RegExp(`the manifest is stale: .*${file} .*has changed since`));
    own.write(file, before);
  }
  own.write("waymark.manifest.ts", manifest.replace(/("name":"typescript","version":")[^"]*/, "$11.2.3"));
  const other = await own.run(["routes", "--manifest=waymark.manifest.ts"]);
  assert.match(other.stderr, /it was built with typescript 1\.2\.3, and \d.* is installed/);
});

test("a manifest carries the inferred return types, which only document", async () => {
  const own = new Project({
    "controllers.ts": `import { Controller, problem } from "@tollway/waymark";
import { find } from "./books.ts";
class Row { id = 1; #secret = 2; get secret() { return this.#secret; } }
export class Default extends Controller {
  async GET(id: number) { return (await find(id)) ?? problem(404, "no", { code: "NO_BOOK" }); }
  PUT(): { id: number } { return { id: 1, secret: 2 } as { id: number }; }
  POST() { return new Row(); }
}`,
    "books.ts": `interface Book { id: number; next?: Book }
const wide = { id: 1, secret: 2 };
export const find = async (id: number): Promise<Book | undefined> => (id === 1 ? wide : undefined);`,
  });
  assert.equal((await own.run(["build"])).status, 0);
  const fromSource = await own.run(["openapi"]);
  const fromManifest = await own.run(["openapi", "--manifest=waymark.manifest.ts"]);
  assert.equal(fromManifest.status, 0, fromManifest.stderr);
  assert.equal(fromManifest.stdout, fromSource.stdout);
  const { paths } = JSON.parse(fromManifest.stdout) as {
    paths: Record<string, Record<string, { responses: Record<string, { content?: unknown }> }>>;
  };
  assert.deepEqual(Object.keys(paths["/{id}"]!.get!.responses).sort(), ["200", "404", "4XX", "5XX"]);
  // A class has no type that the document can show.
  assert.equal(paths["/"]!.post!.responses["200"]!.content, undefined);
  const serving = await own.start(["--manifest=waymark.manifest.ts", "--host=127.0.0.1:0"]);
  const answer = async (path: string, method = "GET"): Promise<unknown> =>
    (await fetch(new URL(path, serving.url), { method })).json();
  assert.deepEqual(await answer("/1"), { id: 1, secret: 2 });
  assert.deepEqual(await answer("/", "PUT"), { id: 1 });
  assert.deepEqual(await answer("/", "POST"), { id: 1 });
  await serving.stop();
  own.write("books.ts", "export const find = async (id: number) => (id === 1 ? { id } : undefined);");
  const { stderr } = await own.run(["routes", "--manifest=waymark.manifest.ts"]);
  assert.match(stderr, /the manifest is stale: .*books\.ts .*has changed since/);
});

test("two builds of the same sources are the same", async () => {
  const texts = [];
  for (let round = 0; round < 2; round++) {
    const own = new Project({ "controllers/index.ts": CONTROLLERS, "controllers/a.ts": CONTROLLERS });
    assert.equal((await own.run(["build"])).status, 0);
    texts.push(execFileSync("cat", [join(own.folder, "waymark.manifest.ts")], { encoding: "utf8" }));
  }
  assert.equal(texts[0], texts[1]);
});

test("a method with a parameter that is not in the manifest ends the start", async () => {
  class Default extends Controller {
    GET(one: string, two: string) {
      return one + two;
    }
  }
  const location = { file: "", line: 0, column: 0 };
  const one = {
    role: "positional",
    name: "one",
    type: { kind: "string" },
    optional: false,
    location,
  } as const;
  const signature = { verb: "GET", parameters: [one], location, definitions: {} };
  const module = {
    root: 0,
    name: "app",
    path: [],
    exports: { Default },
    classes: { Default: { GET: signature } },
  };
  await assert.rejects(new Application({ manifest: { version: 2, modules: [module] } }).ready(), {
    message: /the manifest is stale: app: Default\.GET has a parameter that is not in the manifest/,
  });
});
