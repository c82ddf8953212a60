import assert from "node:assert/strict";
import { test } from "node:test";
import { Controller } from "@tollway/waymark";
import { abstractCheck } from "./abstract.ts";

test("a file that was deleted after its import does not prevent the next start", async () => {
  const isAbstract = await abstractCheck(["/nowhere/deleted.ts"]);
  assert.equal(isAbstract(class extends Controller {}), false);
});
