import assert from "node:assert/strict";
import { test } from "node:test";
import { ResolutionCache } from "./resolution-cache.ts";
import type { Resolution } from "./resolve.ts";

const resolution = (stem: string): Resolution => ({
  rule: undefined,
  statistics: undefined,
  stem,
  windowSize: 0,
  domainNotFound: undefined,
});

test("keeps what is used, stays bounded, and forgets with a new generation", () => {
  const cache = new ResolutionCache(10, 8);
  assert.equal(cache.get(1, "hot"), undefined);
  cache.set("hot", resolution("hot"));
  for (let index = 0; index < 1000; index++) {
    cache.set(`k${index}`, resolution(`k${index}`));
    assert.equal(cache.get(1, "hot")?.stem, "hot");
    assert.ok(cache.size <= 20);
  }
  cache.set("longer than eight", resolution("x"));
  assert.equal(cache.get(1, "longer than eight"), undefined);
  assert.equal(cache.get(2, "hot"), undefined);
  assert.equal(cache.size, 0);
});
