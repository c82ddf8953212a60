import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { scenario } from "./scenario.ts";

const folder = mkdtempSync(join(tmpdir(), "bookstore-"));
process.env.BOOKSTORE_DB = join(folder, "test.sqlite");
process.env.BOOKSTORE_TOKEN = "secret";
const { application } = await import("./app.ts");

before(() => application.ready());
after(async () => {
  await application.stop();
  rmSync(folder, { recursive: true });
});

for (const [name, run] of scenario({ url: "http://localhost", fetch: application.fetch })) test(name, run);

test("the OpenAPI document is valid, and the reviewed routes and the client's declarations are up to date", async () => {
  const document = (await (await application.fetch(new Request("http://localhost/openapi.json"))).json()) as {
    paths: Record<string, unknown>;
  };
  const { valid, errors } = await new Validator().validate(document);
  assert.ok(valid, JSON.stringify(errors));
  assert.ok("/books/{id}" in document.paths && "/books/reviews/{book}" in document.paths);
  const { post } = (document.paths as Record<string, { post: { responses: object } }>)["/books"]!;
  assert.deepEqual(Object.keys(post.responses), ["201", "401", "4XX", "5XX"]);
  const { put } = (document.paths as Record<string, { put: { responses: object } }>)["/books/{id}"]!;
  assert.deepEqual(Object.keys(put.responses), ["200", "401", "404", "4XX", "5XX"]);
  const launcher = join(import.meta.dirname, "..", "..", "packages", "waymark", "bin", "waymark.mjs");
  const args = [launcher, "routes", "--app=app.ts", `--check=${join(import.meta.dirname, "routes.txt")}`];
  execFileSync(process.execPath, args, { cwd: import.meta.dirname });
  const declarations = join(import.meta.dirname, "waymark.api.d.ts");
  const written = readFileSync(declarations, "utf8");
  execFileSync(process.execPath, [launcher, "types", "--app=app.ts"], { cwd: import.meta.dirname });
  assert.equal(readFileSync(declarations, "utf8"), written);
});
