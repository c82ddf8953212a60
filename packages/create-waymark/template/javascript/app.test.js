import assert from "node:assert/strict";
import { after, test } from "node:test";
import { application } from "./app.js";

const { test: api } = application;
after(() => application.stop());

test("a note is created, found and removed", async () => {
  const created = await api.post("/notes", { json: { title: "Buy milk" } });
  assert.equal(created.status, 201);
  const location = created.headers.get("location");
  assert.deepEqual((await api.get(location)).body, created.body);
  const found = await api.get("/notes", { query: { search: "milk" } });
  assert.equal(found.body.length, 1);
  assert.equal((await api.delete(location)).status, 204);
  assert.equal((await api.get(location)).status, 404);
});

test("a note without a title is refused", async () => {
  const { status, body } = await api.post("/notes", { json: { title: 7 } });
  assert.equal(status, 400);
  assert.deepEqual(
    body.errors.map(({ name }) => name),
    ["title"],
  );
});
