import assert from "node:assert/strict";
import { test } from "node:test";
import { backoffDelay } from "./backoff.ts";
import { formatEndpoint } from "./endpoint.ts";

test("endpoints are printed as they are written", () => {
  const endpoints = [{ host: "h", port: 1 }, { host: "::1", port: 2 }, { path: "/s" }];
  assert.deepEqual(endpoints.map(formatEndpoint), ["h:1", "[::1]:2", "/s"]);
});

test("the delay grows from 25 ms to 1 s, between half and all of it", () => {
  const all = [1, 2, 3, 4, 5, 6, 7, 8, 100].map((failures) => backoffDelay(failures, () => 1));
  assert.deepEqual(all, [25, 50, 100, 200, 400, 800, 1000, 1000, 1000]);
  assert.equal(
    backoffDelay(1, () => 0),
    12.5,
  );
});
