import assert from "node:assert/strict";
import { test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Application } from "@tollway/waymark";

const application = new Application({
  controllerPrefix: "controllers",
  directory: import.meta.dirname,
  openapi: { page: false },
});

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

test("its OpenAPI document is valid", async () => {
  const document = (await (await ask("/openapi.json")).json()) as Record<string, unknown>;
  const { valid, errors } = await new Validator().validate(document);
  assert.ok(valid, JSON.stringify(errors));
});
