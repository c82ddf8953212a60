/** A bundle leaves out what its application does not use, and answers like the sources. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { Application } from "@tollway/waymark";
import { bundled } from "../src/build/bundle.ts";
import { linkedText } from "../src/build/linked-text.ts";
import { discover } from "../src/routing/discover.ts";
import { Project } from "./support/project.ts";

const NAMES_ONLY = "an argument with the name of a part";

const GUARDED = `static guard = (foo: Foo) => foo.headers.has("authorization") ? undefined : new Response("a", { status: 401 });
  before() { this.response.headers.set("x-a", "b"); }
  GET() { return 1; }`;

/** The members of a class, and the requests: a path, or more of it. */
const CASES: readonly [
  name: string,
  members: string,
  ...requests: (string | readonly [string, RequestInit])[],
][] = [
  ["nothing", "GET() { return 1; }", "/foo", "/foo/x", "/foo?x=1", "/fooo", ["/foo", { method: "PUT" }]],
  ["cookies", "GET() { return this.cookies.a; }", ["/foo", { headers: { cookie: "a=b%20c; d=e" } }]],
  [NAMES_ONLY, "GET(given: { cookies?: string }) { return given; }", "/foo?cookies=a"],
  ["a cookie of the answer", 'GET() { this.setCookie("a", "b"); return 1; }', "/foo"],
  ["a generator", "*GET() { yield 1; yield 2; }", "/foo"],
  ["a generator without a piece", "async *GET() {}", "/foo"],
  ["an iterator of the platform", "GET() { return new Map([[1, 2]]).values(); }", "/foo"],
  ["a type that hides a stream", "GET(): any { return new Set([1]).values(); }", "/foo"],
  ["a stream", 'GET() { return new Blob(["a"]).stream(); }', "/foo"],
  ["a file", 'GET() { return new Blob(["a"], { type: "text/x-own" }); }', "/foo"],
  ["a Response", 'GET() { return new Response("a", { status: 418 }); }', "/foo"],
  ["a thrown Response", 'GET(): string { throw Response.json("a", { status: 418 }); }', "/foo"],
  ["a Response of before()", 'before() { return this.redirect("/a b"); }\nGET() { return 1; }', "/foo"],
  ["after()", 'after(answer: any) { answer.headers.set("x-a", "b"); }\nGET() { return 1; }', "/foo"],
  ["the request", "async POST() { return this.request.text(); }", ["/foo", { method: "POST", body: "a" }]],
  ["the address", "GET() { return [this.remoteAddress, this.method]; }", "/foo"],
  ["raw keywords", "GET({ a }: { a: number }) { return this.keywords; }", "/foo?a=1", "/foo?a=x"],
  [
    "kinds of scalars",
    "GET(a: Date, b: URL, c: bigint, { d, e = null }: { d: 1 | true; e?: string | null }) { return { a, b, c, d, e }; }",
    "/foo/2026-01-02/http%3A%2F%2Fa/12?d=yes&e=",
    "/foo/2026-13-02/a/1.5?d=2",
  ],
  [
    "a union of keywords",
    'POST(a: { kind: "x"; b: number } | { kind: "y"; c: string[] }) { return a; }',
    ["/foo", json({ kind: "y", c: ["d"] })],
    ["/foo", json({ kind: "x", b: "d" })],
    ["/foo", json([1])],
  ],
  [
    "a form",
    "POST({ a, f }: { a: string; f?: File }) { return { a, f: f?.name }; }",
    ["/foo", { method: "POST", body: formOf({ a: "b" }) }],
    ["/foo", { method: "POST", body: new URLSearchParams({ a: "b" }) }],
  ],
  [
    "a schema of all keywords",
    `static schema = { POST: { given: { "~standard": { version: 1, vendor: "own", validate: (value: any) => value.a ? { value } : { issues: [{ message: "is bad", path: ["b"] }] } } } } };
    POST(given: { a?: string }) { return given; }`,
    ["/foo", json({ a: "b", c: 1 })],
    ["/foo?b=1", json({ c: 1 })],
  ],
  ["further segments", "GET(a: number, ...path: string[]) { return [a, path]; }", "/foo/1/b/c", "/foo"],
  [
    "undeclared names",
    "GET(given: { a?: number; [name: string]: unknown }) { return given; }",
    "/foo?a=1&b=2",
  ],
  [
    "lists",
    "POST(a: number, list: string[]) { return [a, list]; }",
    ["/foo/1", json(["b"])],
    "/foo/1?list=b",
  ],
  ["before() and a guard", GUARDED, "/foo", ["/foo", { headers: { authorization: "x" } }]],
  [
    "onError()",
    'onError() { return new Response("a", { status: 418 }); }\nGET() { throw new Error("a"); }',
    "/foo",
  ],
  [
    "ignored names",
    'static unknownKeywords = "ignore"; GET({ a }: { a?: number }) { return { a }; }',
    "/foo?a=1&b=2",
  ],
  [
    "a member class",
    "static Bar = class extends Controller { GET(id: number) { return id; } };\nGET() { return 1; }",
    "/foo/bar/2",
    "/foo",
  ],
];

const LIE = [
  "a stream that its type denies is an error, and says why",
  "GET() { return new Map([[1, 2]]).values() as unknown as string; }",
] as const;

function json(value: unknown): RequestInit {
  return { method: "POST", body: JSON.stringify(value), headers: { "content-type": "application/json" } };
}

function formOf(fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return form;
}

const FAILURE = [
  "a log without Node's modules has the members of an error as JSON",
  'GET(): string { throw Object.assign(new Error("a"), { b: 1 }); }',
] as const;

interface Served {
  fetch(request: Request): Promise<Response>;
}

const { folder } = new Project(
  Object.fromEntries(
    [...CASES, LIE, FAILURE].map(([, members], at) => [
      `case${at}.ts`,
      `import { Controller } from "@tollway/waymark";\nexport class Foo extends Controller {\n${members}\n}\n`,
    ]),
  ),
);
const prefixes = [...CASES, LIE, FAILURE].map((_, at) => `case${at}`);
/** TypeScript's compiler reads all modules at once. */
const all = await new Application({ directory: folder, controllerPrefix: prefixes }).describe();

/** The application of one module as the module of a worker, and from its sources. */
async function bothOf(at: number): Promise<readonly [bundle: Served, sources: Served]> {
  const prefix = `case${at}`;
  const application = new Application({ directory: folder, controllerPrefix: prefix, log: () => undefined });
  const bytes = await bundled({
    target: "worker",
    directory: folder,
    app: undefined,
    manifest: await linkedText([discover(prefix, folder)], [all.roots[at]!], { folder, documented: false }),
    nodeCompat: false,
    usage: {
      routes: { classes: all.classes.filter(({ module }) => module === prefix) },
      options: application.options,
    },
  });
  const file = join(folder, `${prefix}.bundle.mjs`);
  writeFileSync(file, bytes);
  const { default: worker } = (await import(pathToFileURL(file).href)) as { default: Served };
  return [worker, application];
}

async function asked(served: Served, path: string, init?: RequestInit): Promise<unknown> {
  const answer = await served.fetch(new Request(`http://localhost${path}`, init));
  return { status: answer.status, headers: [...answer.headers], body: await answer.text() };
}

for (const [at, [name, , ...requests]] of CASES.entries())
  test(name, async () => {
    const [bundle, sources] = await bothOf(at);
    for (const request of requests) {
      const [path, init] = typeof request === "string" ? [request] : request;
      assert.deepEqual(await asked(bundle, path, init), await asked(sources, path, init), path);
    }
  });

test("the names of arguments keep no part", async () => {
  const keepsCookies = async (name: string) => {
    const at = CASES.findIndex(([each]) => each === name);
    await bothOf(at);
    return readFileSync(join(folder, `case${at}.bundle.mjs`), "utf8").includes("Max-Age");
  };
  assert.deepEqual([await keepsCookies("cookies"), await keepsCookies(NAMES_ONLY)], [true, false]);
});

test(LIE[0], async (context) => {
  const logged: string[] = [];
  context.mock.method(console, "error", (text: string) => logged.push(text));
  const [bundle] = await bothOf(CASES.length);
  assert.equal(((await asked(bundle, "/foo")) as { status: number }).status, 500);
  assert.match(logged.join(), /this bundle lacks a part that the application did not use/);
});

test(FAILURE[0], async (context) => {
  const logged: string[] = [];
  context.mock.method(console, "error", (text: string) => logged.push(text));
  const [bundle] = await bothOf(CASES.length + 1);
  assert.equal(((await asked(bundle, "/foo")) as { status: number }).status, 500);
  assert.match(logged.join(), /Error: a\n.*\{"b":1\}/s);
});
