import assert from "node:assert/strict";
import { test } from "node:test";
import { Application, Controller, HttpError } from "@tollway/waymark";
import { CONTROLLERS } from "./support/first-minute.ts";
import { Project } from "./support/project.ts";

class Foo extends Controller {
  GET(id: number, { verbose = false }: { verbose?: boolean }) {
    return { id, verbose };
  }
}

async function ask(
  application: Application,
  path: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return application.fetch(new Request(`http://localhost${path}`, { headers }));
}

test("the document and its page are off by default", async () => {
  const application = new Application({ controllers: { Foo } });
  assert.equal((await ask(application, "/openapi.json")).status, 404);
  assert.equal((await ask(application, "/docs")).status, 404);
});

test("the document describes the application and not itself", async () => {
  const openapi = { title: "Foos", version: "1.2.3", description: "All foos." };
  const application = new Application({ controllers: { Foo }, openapi });
  const response = await ask(application, "/openapi.json");
  assert.equal(response.headers.get("content-type"), "application/json; charset=utf-8");
  const document = (await response.json()) as {
    openapi: string;
    info: unknown;
    paths: Record<string, unknown>;
  };
  assert.match(document.openapi, /^3\.1/);
  assert.deepEqual(document.info, openapi);
  assert.deepEqual(Object.keys(document.paths), ["/foo/{id}"]);
});

test("the option and the command choose the version of OpenAPI", async () => {
  const served = await ask(
    new Application({ controllers: { Foo }, openapi: { spec: "3.2", page: false } }),
    "/openapi.json",
  );
  assert.equal(((await served.json()) as { openapi: string }).openapi, "3.2.0");
  assert.throws(
    () => new Application({ openapi: { spec: "3.0" as "3.1" } }),
    /openapi\.spec must be "3\.1" or "3\.2", not 3\.0/,
  );
  const project = new Project({ "controllers.ts": CONTROLLERS });
  const printed = await project.run(["openapi", "--spec=3.2"]);
  assert.equal((JSON.parse(printed.stdout) as { openapi: string }).openapi, "3.2.0");
  const refused = await project.run(["openapi", "--spec=2.0"]);
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /--spec=2\.0: unknown version of OpenAPI/);
});

test("the served document and the printed one have the inferred return types", async () => {
  const project = new Project({
    "controllers.ts": `import { Controller, problem } from "@tollway/waymark";
const book = { id: 1, title: "Emma" };
export class Books extends Controller {
  async GET(id: number) {
    if (id !== 1) return problem(404, "no", { code: "NO_BOOK" });
    return book;
  }
  async *POST() { yield book; }
  PUT() {}
  PATCH() { return new Map(); }
}`,
    "app.ts": `import { Application } from "@tollway/waymark";
export const application = new Application({ openapi: true });`,
  });
  const printed = await project.run(["openapi"]);
  assert.equal(printed.status, 0, printed.stderr);
  const serving = await project.start(["--app=app.ts", "--host=127.0.0.1:0"]);
  const served = (await (await fetch(new URL("/openapi.json", serving.url))).json()) as Described;
  await serving.stop();
  assert.deepEqual(served.paths, (JSON.parse(printed.stdout) as Described).paths);
  const responses = (path: string, method: string) => served.paths[path]![method]!.responses;
  const item = {
    type: "object",
    properties: { id: { type: "number" }, title: { type: "string" } },
    required: ["id", "title"],
  };
  const get = responses("/books/{id}", "get");
  assert.deepEqual(get["200"]!.content, { "application/json": { schema: item } });
  assert.match(JSON.stringify(get["404"]!.content), /"code":\{"type":"string","enum":\["NO_BOOK"\]\}/);
  const stream = { schema: item };
  assert.deepEqual(responses("/books", "post")["200"]!.content, {
    "application/x-ndjson": stream,
    "text/event-stream": stream,
  });
  assert.deepEqual(Object.keys(responses("/books", "put")), ["204", "4XX", "5XX"]);
  assert.deepEqual(responses("/books", "patch")["200"], { description: "Success" });
});

interface Described {
  readonly paths: Record<string, Record<string, { responses: Record<string, { content?: unknown }> }>>;
}

test("the page loads all its files from this server", async () => {
  const application = new Application({ controllers: { Foo }, openapi: { page: "/reference" } });
  const page = await ask(application, "/reference");
  assert.match(page.headers.get("content-security-policy")!, /default-src 'self'/);
  const html = await page.text();
  assert.doesNotMatch(html, /https?:/);
  const parts = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path!);
  assert.equal(parts.length, 4);
  for (const part of parts) {
    const response = await ask(application, part);
    assert.equal(response.status, 200, part);
    assert.ok((await response.arrayBuffer()).byteLength > 50, part);
  }
  for (const part of ["..%2Fpackage.json", "__proto__", "index.html"])
    assert.equal((await ask(application, `/reference/${part}`)).status, 404, part);
});

test("the hooks of the application also run for document and page", async () => {
  const application = new Application({
    controllers: { Foo },
    openapi: true,
    before(controller) {
      if (controller.headers.get("authorization") === null) throw new HttpError(401);
    },
  });
  assert.equal((await ask(application, "/openapi.json")).status, 401);
  assert.equal((await ask(application, "/docs", { authorization: "x" })).status, 200);
});

test("a path that is taken, or is not a single segment, prevents startup", async () => {
  class Docs extends Foo {}
  const taken = new Application({ controllers: { Docs }, openapi: true });
  await assert.rejects(taken.ready(), { code: "AMBIGUOUS_ROUTE" });
  const deep = new Application({ controllers: { Foo }, openapi: { path: "/a/b.json" } });
  await assert.rejects(deep.ready(), { code: "INVALID_OPTION" });
});

test("waymark openapi prints the document, or writes it", async () => {
  const project = new Project({ "controllers.ts": CONTROLLERS });
  const { stdout, status, stderr } = await project.run(["openapi"]);
  assert.equal(status, 0, stderr);
  const document = JSON.parse(stdout) as { info: { title: string }; paths: Record<string, unknown> };
  assert.equal(document.info.title, "x");
  assert.deepEqual(Object.keys(document.paths).sort(), ["/", "/foo/{id}"]);
  assert.equal((await project.run(["openapi", "--out=api.json"])).stdout, "");
});
