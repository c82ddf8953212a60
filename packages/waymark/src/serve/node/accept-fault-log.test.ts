import assert from "node:assert/strict";
import { test } from "node:test";
import { acceptFaultLog } from "./accept-fault-log.ts";

test("logs the first error at once, then one line a minute with the number of errors", () => {
  const lines: string[] = [];
  let now = 0;
  const onError = acceptFaultLog(
    (line) => lines.push(line),
    () => now,
  );
  const fail = () => onError(new Error("accept EMFILE"));
  const first = "cannot accept a connection: accept EMFILE";
  for (let i = 0; i < 100; i++) fail();
  assert.deepEqual(lines, [first]);
  now = 60_000;
  fail();
  fail();
  assert.deepEqual(lines, [first, `${first} (100 times since the last such line)`]);
  now = 120_000;
  fail();
  assert.deepEqual(lines.slice(2), [`${first} (2 times since the last such line)`]);
});
