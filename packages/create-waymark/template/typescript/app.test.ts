import assert from "node:assert/strict";
import { after, test } from "node:test";
import { application } from "./app.ts";

after(() => application.stop());

function ask(method: string, path: string, body?: object): Promise<Response> {
  const init = body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  return application.fetch(new Request(`http://localhost${path}`, { method, ...init }));
}

test("a note is created, found and removed", async () => {
  const created = await ask("POST", "/notes", { title: "Buy milk" });
  assert.equal(created.status, 201);
  const location = created.headers.get("location")!;
  assert.deepEqual(await (await ask("GET", location)).json(), await created.json());
  const found = await ask("GET", "/notes?search=milk");
  assert.equal(((await found.json()) as unknown[]).length, 1);
  assert.equal((await ask("DELETE", location)).status, 204);
  assert.equal((await ask("GET", location)).status, 404);
});

test("the signature refuses what a note cannot be", async () => {
  const refused = await ask("POST", "/notes", { title: "" });
  assert.equal(refused.status, 400);
  const { errors } = (await refused.json()) as { errors: { name: string }[] };
  assert.deepEqual(
    errors.map(({ name }) => name),
    ["title"],
  );
});
