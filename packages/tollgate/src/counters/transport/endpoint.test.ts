import assert from "node:assert/strict";
import { test } from "node:test";
import { formatEndpoint } from "./endpoint.ts";

test("formats endpoints as in the settings", () => {
  const endpoints = [{ host: "h", port: 1 }, { host: "::1", port: 2 }, { path: "/s" }];
  assert.deepEqual(endpoints.map(formatEndpoint), ["h:1", "[::1]:2", "/s"]);
});
