/** `waymark build --target`: what it writes, and what it refuses. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { CONTROLLERS } from "./support/first-minute.ts";
import { Project } from "./support/project.ts";

const ESBUILD = dirname(createRequire(import.meta.url).resolve("esbuild/package.json"));

function project(files: Readonly<Record<string, string>>): Project {
  const own = new Project(files);
  symlinkSync(ESBUILD, join(own.folder, "node_modules", "esbuild"));
  return own;
}

const TYPED = `import { Application } from "@tollway/waymark";
import { Foo } from "./controllers.ts";
export const application = new Application({ controllers: { Foo } });`;

const NODE = `import { hostname } from "node:os";
import { Application, Controller } from "@tollway/waymark";
class Default extends Controller { GET() { return hostname(); } }
export const application = new Application({ controllers: { Default } });`;

function app(before: string, options = ""): string {
  return `import { Application } from "@tollway/waymark";
${before}
export const application = new Application({ ${options} });`;
}

/** Arguments, the module of the application, and the message. */
const REFUSED: readonly [name: string, args: readonly string[], app: string, message: RegExp][] = [
  [
    "a module of Node in a worker",
    ["--target=worker"],
    NODE,
    /^waymark: a worker has no modules of Node:\n {2}app\.ts imports node:os\nuse a web interface/,
  ],
  [
    "a form in parts in a worker",
    ["--target=worker"],
    app('import { uploads } from "@tollway/waymark/kit/uploads";\nvoid uploads;'),
    /^waymark: a worker has no modules of Node:\n {2}\S+busboy\S+ imports node:/,
  ],
  [
    "types that only sources show",
    ["--target=node"],
    TYPED,
    /^waymark: Foo\.GET has parameters, and this runtime cannot read their types/,
  ],
  [
    "an import that does not exist",
    ["--target=node"],
    app('const load = () => import("./missing.ts");\nvoid load;'),
    /^waymark: app\.ts:2:\d+: Could not resolve "\.\/missing\.ts"/,
  ],
  [
    "a global of Node in a worker",
    ["--target=worker"],
    app("const build = globalThis.process?.version === undefined ? undefined.x : 1;\nvoid build;"),
    /would not start where it is deployed: TypeError/,
  ],
  [
    "a request while a worker loads",
    ["--target=worker"],
    app('if (globalThis.process === undefined) await fetch("http://localhost");'),
    /a worker may call fetch\(\) only while it answers a request/,
  ],
  [
    "code from text in a worker",
    ["--target=worker"],
    app('new Function("return 1")();'),
    /would not start where it is deployed: EvalError/,
  ],
  [
    "the page of the document where there are no files",
    ["--target=worker"],
    app("", 'openapi: { page: "/docs" }'),
    /would not start where it is deployed: .*only Node serves the page of the OpenAPI document/s,
  ],
  ["an unknown target", ["--target=mars"], app(""), /--target=mars: unknown target; use node, bun, deno/],
  [
    "modules of Node for a server",
    ["--target=node", "--node-compat"],
    app(""),
    /--node-compat needs --target=worker/,
  ],
  ["modules of Node for a manifest", ["--node-compat"], app(""), /--node-compat needs --target=worker/],
];

for (const [name, args, text, message] of REFUSED)
  test(`refuses ${name}`, async () => {
    const own = project({ "controllers.ts": CONTROLLERS, "app.ts": text });
    const { status, stderr } = await own.run(["build", "--app=app.ts", ...args]);
    assert.notEqual(status, 0);
    assert.match(stderr, message);
  });

test("without a bundler, the message names the remedy", async () => {
  const own = new Project({ "controllers.ts": CONTROLLERS });
  const hidden = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(WITHOUT_ESBUILD)}` };
  const { status, stderr } = await own.run(["build", "--prefix=controllers", "--target=node"], hidden);
  assert.equal(status, 1);
  assert.match(
    stderr,
    /^waymark: a bundle needs a bundler: run "npm install --save-dev esbuild"\ndocs: \S+\/deployment\.md#one-file\n$/,
  );
  assert.ok(!existsSync(join(own.folder, "dist")));
});

const WITHOUT_ESBUILD = `import { registerHooks } from "node:module";
registerHooks({ resolve(specifier, context, next) {
  if (specifier === "esbuild") throw Object.assign(new Error("none"), { code: "ERR_MODULE_NOT_FOUND" });
  return next(specifier, context);
} });`;

test("the module of a worker answers requests, with its document", async () => {
  const text = app("", 'openapi: { title: "Own" }');
  const own = project({ "controllers.ts": CONTROLLERS, "app.ts": text });
  const { status, stderr } = await own.run(["build", "--app=app.ts", "--target=worker"]);
  assert.equal(status, 0, stderr);
  assert.match(stderr, /^wrote dist\/worker\.mjs: [\d.]+ kB, [\d.]+ kB compressed\n$/);
  const file = join(own.folder, "dist", "worker.mjs");
  const { default: worker } = (await import(pathToFileURL(file).href)) as {
    default: { fetch(request: Request): Promise<Response> };
  };
  const answer = await worker.fetch(new Request("http://localhost/foo/12?verbose=yes"));
  assert.deepEqual(await answer.json(), { id: 12, verbose: true });
  const document = await worker.fetch(new Request("http://localhost/openapi.json"));
  const { info, paths } = (await document.json()) as { info: { title: string }; paths: object };
  assert.equal(info.title, "Own");
  assert.deepEqual(Object.keys(paths), ["/", "/foo/{id}"]);
  assert.doesNotMatch(readFileSync(file, "utf8"), /oxc|busboy|node:(?!util)/);
});

/** Node makes some of them from modules of its own when they are first used. */
const WEB_OBJECTS = `export const made = [
  new Headers({ a: "b" }), new Request("http://localhost", { method: "POST", body: "x" }), new Response("x"), new FormData(),
  new Blob(["x"]), new File(["x"], "x"), new URL("http://localhost"), new URLPattern({ pathname: "/" }), new TextEncoder(),
  new ReadableStream(), new TransformStream(), new CompressionStream("gzip"), new TextDecoderStream(), new EventTarget(),
  new AbortController(), WebSocket, structuredClone({}), performance.now(), crypto.subtle,
];`;

test("a worker may make the web's objects while it loads", async () => {
  const text = app(WEB_OBJECTS);
  const own = project({ "controllers.ts": CONTROLLERS, "app.ts": text });
  const { status, stderr } = await own.run(["build", "--app=app.ts", "--target=worker"]);
  assert.equal(status, 0, stderr);
});

test("a runnable file reads its address from the environment", async () => {
  const own = project({ "controllers.ts": CONTROLLERS });
  assert.equal((await own.run(["build", "--prefix=controllers", "--target=node"])).status, 0);
  const served = new Project({}, join(own.folder, "dist", "server.mjs"), own.folder);
  const serving = await served.start([], { HOST: "127.0.0.1", PORT: "0" });
  assert.deepEqual(await (await fetch(`${serving.url}/foo/12`)).json(), { id: 12, verbose: false });
  assert.equal(await serving.stop(), 0);
  const refused = await served.run([], { PORT: "http" });
  assert.equal(refused.status, 1);
  assert.equal(refused.stderr, "waymark: PORT=http must be a number from 0 to 65535\n");
});

/** Lines that bundlers and applications write themselves, in two modules. */
const REQUIRE_OF_ITS_OWN = `import process from "node:process";
import { createRequire as requireFrom } from "node:module";
const require = requireFrom(import.meta.url);
export const separator = process.version === undefined ? "" : require("node:path").sep;`;

const COMMON = 'const { sep } = require("node:path");\nexports.separator = sep;\n';

for (const target of ["node", "lambda"])
  test(`${target}: modules that make a require of their own, beside one of CommonJS`, async () => {
    const own = project({
      "controllers.ts": `import { Controller } from "@tollway/waymark";
import { separator } from "./first.ts";
import { separator as second } from "./second.ts";
import third from "./third.cjs";
export class Default extends Controller { GET() { return separator + second + third.separator; } }`,
      "first.ts": REQUIRE_OF_ITS_OWN,
      "second.ts": REQUIRE_OF_ITS_OWN,
      "third.cjs": COMMON,
    });
    const out = join(own.folder, "dist", "own.mjs");
    const { status, stderr } = await own.run([
      "build",
      "--prefix=controllers",
      `--target=${target}`,
      `--out=${out}`,
    ]);
    assert.equal(status, 0, stderr);
    if (target === "lambda") return;
    const serving = await new Project({}, out, own.folder).start([], { HOST: "127.0.0.1", PORT: "0" });
    assert.equal(await (await fetch(serving.url)).json(), sep.repeat(3));
    assert.equal(await serving.stop(), 0);
  });
