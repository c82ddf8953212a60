import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Unit } from "../protocol/messages.ts";
import { ResolutionCache } from "./resolution-cache.ts";
import type { Resolution, Resolved } from "./resolve.ts";

const resolution = (stem: string): Resolution => ({
  rule: undefined,
  statistics: undefined,
  stem,
  windowSize: 0,
  domainNotFound: undefined,
});

const descriptor = (...values: string[]): Resolved => ({
  entries: values.map((value) => ({ key: "k", value })),
  limit: undefined,
});

/** The stem that the cache finds for a descriptor. Offers a resolution with `stem` after a miss. */
function ask(cache: ResolutionCache, of: Resolved, stem: string, domain = "d"): string | undefined {
  const found = cache.find(1, domain, of);
  if (found === undefined) cache.offer(domain, of, resolution(stem));
  return found?.stem;
}

test("a descriptor is cached at its second offer", () => {
  const cache = new ResolutionCache(10);
  const asked = Array.from({ length: 3 }, () => ask(cache, descriptor("a"), "a"));
  assert.deepEqual(asked, [undefined, undefined, "a"]);
});

test("the cache keeps used entries, stays bounded, and is emptied by a new generation of the rules", () => {
  const cache = new ResolutionCache(10);
  for (let call = 0; call < 2; call++) ask(cache, descriptor("hot"), "hot");
  for (let index = 0; index < 1000; index++) {
    for (let call = 0; call < 2; call++) ask(cache, descriptor(`k${index}`), `k${index}`);
    assert.equal(ask(cache, descriptor("hot"), "hot"), "hot");
    assert.ok(cache.size <= 20);
  }
  const long = descriptor("x".repeat(2000));
  for (let call = 0; call < 3; call++) assert.equal(ask(cache, long, "long"), undefined);
  assert.equal(cache.find(2, "d", descriptor("hot")), undefined);
  assert.equal(cache.size, 0);
});

test("only an equal descriptor finds a resolution", () => {
  const cache = new ResolutionCache(50);
  const text = fc.string({ unit: fc.constantFrom("a", "b", "\u00e4", "\ud800"), maxLength: 3 });
  const limit = fc.option(
    fc.record({ requestsPerUnit: fc.nat(3), unit: fc.constantFrom(Unit.SECOND, Unit.DAY) }),
    { nil: undefined },
  );
  const entry = fc.record({ key: text, value: text });
  const any = fc.record({ entries: fc.array(entry, { maxLength: 2 }), limit });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, any), { maxLength: 200 }), (asked) => {
      for (const [domain, of] of asked) {
        const stem = JSON.stringify([domain, of]);
        const found = ask(cache, of, stem, domain);
        if (found !== undefined) assert.equal(found, stem);
      }
    }),
  );
});

test("descriptors that are too long or have too many entries are not cached", () => {
  const cache = new ResolutionCache(10);
  const cases: readonly (readonly [domain: string, of: Resolved])[] = [
    ["x".repeat(1025), descriptor()],
    ["x".repeat(1000), descriptor("y".repeat(30))],
    ["d", descriptor("x".repeat(1024))],
    ["d", descriptor(...Array<string>(33).fill(""))],
  ];
  for (const [domain, of] of cases)
    for (let call = 0; call < 3; call++) assert.equal(ask(cache, of, "stem", domain), undefined);
  assert.deepEqual([cache.size, cache.bytes], [0, 0]);
});

test("memory is bounded for descriptors and cache keys of any length", () => {
  const cache = new ResolutionCache(8192);
  for (let index = 0; index < 20_000; index++) {
    const of = descriptor(String(index).padEnd(1000, "x"));
    for (let call = 0; call < 2; call++) ask(cache, of, "%E3%80%80".repeat(1000));
  }
  assert.ok(cache.bytes > 8 * 1024 * 1024 && cache.bytes <= 16 * 1024 * 1024, String(cache.bytes));
});
