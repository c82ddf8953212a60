/** The entry with web interfaces only, as Node loads it. `npm run runtimes` runs it where it is meant for. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Application, Controller } from "@tollway/waymark/web";
import { worker } from "@tollway/waymark/worker";

class Default extends Controller {
  GET() {
    return { from: this.remoteAddress ?? "nobody" };
  }
  POST({ ...fields }) {
    return fields;
  }
}

class Typed extends Controller {
  GET(id: number) {
    return id;
  }
}

const ask = (application: Application, request = new Request("http://localhost/")) =>
  application.fetch(request).then((response) => response.json());

const REFUSED: readonly [name: string, application: Application, message: RegExp][] = [
  [
    "no controllers",
    new Application(),
    /this runtime has no controllers to read: run "waymark build" with Node/,
  ],
  [
    "a prefix",
    new Application({ controllerPrefix: "controllers" }),
    /this runtime has no controllers to read: run "waymark build" with Node/,
  ],
  [
    "types that only sources show",
    new Application({ controllers: { Typed } }),
    /Typed\.GET has parameters, and this runtime cannot read their types: run "waymark build"/,
  ],
];

for (const [name, application, message] of REFUSED)
  test(`the start fails with ${name}`, () =>
    assert.rejects(application.ready(), { code: "START_FAILED", message }));

test("controllers without types need no manifest", async () => {
  assert.deepEqual(await ask(new Application({ controllers: { Default } })), { from: "nobody" });
});

test("the platform's parser reads forms", async () => {
  const application = new Application({ controllers: { Default } });
  const body = new FormData();
  body.append("one", "1");
  body.append("two", "zwei");
  const request = new Request("http://localhost/", { method: "POST", body });
  assert.deepEqual(await ask(application, request), { one: "1", two: "zwei" });
});

test("a manifest replaces the prefix, and a manifest of the options stays", async () => {
  const location = { file: "", line: 0, column: 0 };
  const signature = { verb: "GET", parameters: [], location, definitions: {} };
  const manifest = (name: string) => ({
    version: 2 as const,
    modules: [
      { root: 0, name, path: [], exports: { Default: Only }, classes: { Default: { GET: signature } } },
    ],
  });
  const started = new Application({ controllerPrefix: "controllers" }).startFrom(manifest("built"));
  assert.equal(await ask(started), "only");
  const own = manifest("own");
  assert.equal(new Application({ manifest: own }).startFrom(manifest("other")).options.manifest, own);
});

class Only extends Controller {
  GET() {
    return "only";
  }
}

test("a worker knows the client's address from Cloudflare's header", async () => {
  const { fetch } = worker(new Application({ controllers: { Default } }));
  const headers = { "cf-connecting-ip": "203.0.113.7" };
  const answer = await fetch(new Request("http://localhost/", { headers }));
  assert.deepEqual(await answer.json(), { from: "203.0.113.7" });
});
