import assert from "node:assert/strict";
import { test } from "node:test";
import { hideValues } from "./top-keys-query.ts";

test("hidden values do not hide the keys and the numbers", () => {
  const key = { entries: [["user", "alice"]], hits: 2, error: 1 } as const;
  const place = { rule: "d.user", file: "d.yaml:1" };
  const hidden = { ...key, entries: [["user", "*****"]] };
  assert.deepEqual(
    hideValues({
      from: 1,
      to: 2,
      rules: [{ ...place, hits: 9, refused: 2, keys: [key], refusedKeys: [key] }],
      refused: [{ ...place, ...key }],
    }),
    {
      from: 1,
      to: 2,
      rules: [{ ...place, hits: 9, refused: 2, keys: [hidden], refusedKeys: [hidden] }],
      refused: [{ ...place, ...hidden }],
    },
  );
});
