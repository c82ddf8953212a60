import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { backoffDelay } from "./backoff.ts";
import { formatEndpoint, parseHostPort } from "./endpoint.ts";

describe("endpoints", () => {
  for (const text of ["h:1", "127.0.0.1:6379", "[::1]:65535", "a.b-c:80"])
    test(text, () => assert.equal(formatEndpoint(parseHostPort(text, "URL")), text));

  for (const text of [
    "",
    "h",
    "h:",
    ":1",
    "h:0",
    "h:65536",
    "::1:1",
    "h:1/2",
    "h 1:1",
    "a:1:2",
    "h:-1",
    "[::1]",
  ])
    test(`${JSON.stringify(text)} is refused, and named`, () =>
      assert.throws(() => parseHostPort(text, "KVSTORE_URL"), /KVSTORE_URL: ".*" is not host:port/));
});

test("the delay grows from 25 ms to 1 s, between half and all of it", () => {
  const all = [1, 2, 3, 4, 5, 6, 7, 8, 100].map((failures) => backoffDelay(failures, () => 1));
  assert.deepEqual(all, [25, 50, 100, 200, 400, 800, 1000, 1000, 1000]);
  assert.equal(
    backoffDelay(1, () => 0),
    12.5,
  );
});
