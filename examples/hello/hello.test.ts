import assert from "node:assert/strict";
import { test } from "node:test";
import { Application } from "@tollway/waymark";

const application = new Application({ controllerPrefix: "controllers", directory: import.meta.dirname });

function ask(path: string, init?: RequestInit): Promise<Response> {
  return application.fetch(new Request(`http://localhost${path}`, init));
}

test("the root answers", async () => {
  assert.equal(await (await ask("/")).json(), "Default handler");
});

test("a form field is an argument", async () => {
  const response = await ask("/", { method: "POST", body: new URLSearchParams({ name: "Awesome you" }) });
  assert.equal(await response.json(), "hello Awesome you");
});

test("path and query are typed", async () => {
  assert.deepEqual(await (await ask("/foo/12?verbose=true")).json(), { id: 12, verbose: true });
  const refused = await ask("/foo/x");
  assert.equal(refused.status, 400);
  assert.equal(refused.headers.get("content-type"), "application/problem+json");
  const { errors } = (await refused.json()) as { errors: { in: string; name: string }[] };
  assert.deepEqual(
    errors.map((fault) => `${fault.in}: ${fault.name}`),
    ["path: id"],
  );
});
