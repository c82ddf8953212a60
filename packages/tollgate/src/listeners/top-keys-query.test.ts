import assert from "node:assert/strict";
import { test } from "node:test";
import { hideValues, isLoopback } from "./top-keys-query.ts";

test("only callers on this machine see values", () => {
  for (const address of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
    assert.equal(isLoopback(address), true, address);
  for (const address of ["10.0.0.1", "::ffff:10.0.0.1", "fe80::1", "127.example.com", "", undefined])
    assert.equal(isLoopback(address), false, String(address));
});

test("hidden values leave the keys and the numbers", () => {
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
