import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { inOrder, LONGEST } from "./test-order.ts";

describe("the order of test files", () => {
  it("begins with the longest ones, in the order of their list", () => {
    assert.deepEqual(inOrder(["d", "a", "c", "b"], ["c", "x", "b"]), ["c", "b", "a", "d"]);
  });

  for (const file of LONGEST)
    it(`${file} exists`, () => {
      assert.ok(existsSync(join(import.meta.dirname, "..", file)));
    });
});
