import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Prepared } from "./prepared.ts";
import { PreparedCache } from "./prepared-cache.ts";

const prepared = (domain: string, generation = 1): Prepared => ({
  request: { domain, descriptors: [], hitsAddend: 0 },
  generation,
  parts: [],
  isKept: false,
  scratch: undefined,
});

function ask(cache: PreparedCache, text: string, generation = 1): Prepared | undefined {
  const bytes = Buffer.from(`..${text}..`);
  const found = cache.find(generation, bytes, 2, bytes.length - 2);
  if (found === undefined) cache.offer(bytes, 2, bytes.length - 2, prepared(text, generation));
  return found;
}

test("a message is cached at its second offer", () => {
  const cache = new PreparedCache();
  assert.deepEqual([ask(cache, "a"), ask(cache, "a")], [undefined, undefined]);
  assert.equal(ask(cache, "a")?.request.domain, "a");
});

test("a new rule set empties the cache, and requests prepared under the old one are not cached", () => {
  const cache = new PreparedCache();
  for (let call = 0; call < 3; call++) ask(cache, "a");
  assert.equal(ask(cache, "a", 2), undefined);
  const bytes = Buffer.from("b");
  for (let call = 0; call < 3; call++) {
    cache.find(2, bytes, 0, 1);
    cache.offer(bytes, 0, 1, prepared("b", 1));
  }
  assert.equal(cache.find(2, bytes, 0, 1), undefined);
});

test("only equal bytes find a request, and memory is bounded", () => {
  const cache = new PreparedCache();
  const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 6 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 200 }), (messages) => {
      for (const message of messages) {
        const found = ask(cache, message);
        if (found !== undefined) assert.equal(found.request.domain, message);
      }
    }),
  );
  for (let index = 0; index < 30_000; index++)
    for (let call = 0; call < 2; call++) ask(cache, `key ${index}`);
  assert.ok(cache.size <= 8192, String(cache.size));
  const long = "x".repeat(600);
  for (let call = 0; call < 3; call++) assert.equal(ask(cache, long), undefined);
});

test("the cache copies a message and does not keep its read buffer", () => {
  const cache = new PreparedCache();
  const read = Buffer.from("first second");
  for (let call = 0; call < 2; call++) {
    cache.find(1, read, 0, 5);
    cache.offer(read, 0, 5, prepared("first"));
  }
  read.fill("x");
  assert.equal(cache.find(1, Buffer.from("first"), 0, 5)?.request.domain, "first");
});

test("requests with many descriptors stay within the bound in bytes", () => {
  const cache = new PreparedCache();
  const descriptor = { entries: [], limit: undefined, hitsAddend: undefined, isNegativeHits: false };
  const part = {
    rule: undefined,
    statistics: undefined,
    domainNotFound: undefined,
    stem: "",
    windowSize: 0,
    hits: 1,
    isRefund: false,
    currentLimit: { requestsPerUnit: 0, unit: 0, name: "" },
    near: 0,
  } as const;
  for (let index = 0; index < 5000; index++) {
    const bytes = Buffer.from(String(index));
    for (let call = 0; call < 2; call++) {
      if (cache.find(1, bytes, 0, bytes.length) !== undefined) continue;
      const descriptors = Array.from({ length: 250 }, () => descriptor);
      const request = { domain: "d", descriptors, hitsAddend: 0 };
      const parts = descriptors.map(() => part);
      cache.offer(bytes, 0, bytes.length, { ...prepared("d"), request, parts });
    }
  }
  assert.ok(cache.size > 0 && cache.size < 200, String(cache.size));
  assert.ok(cache.bytes <= 16 * 1024 * 1024, String(cache.bytes));
});
