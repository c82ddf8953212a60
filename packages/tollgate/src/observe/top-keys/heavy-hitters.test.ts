import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { HeavyHitters } from "./heavy-hitters.ts";

const noRoomLimit = () => ({ size: 1e6, taken: 0 });

/** Counts the same hits exactly. */
class Exact {
  readonly counts = new Map<number, number>();
  total = 0;
  add(key: number, hits: number): void {
    this.total += hits;
    this.counts.set(key, (this.counts.get(key) ?? 0) + hits);
  }
}

/** A hash without collisions: multiplication by an odd number is a bijection. */
const hashOf = (key: number): number => Math.imul(key + 1, 0x2545f491) ^ 0x1234567;

function count(hits: Iterable<readonly [key: number, hits: number]>, capacity: number, room = noRoomLimit()) {
  const exact = new Exact();
  const sketch = new HeavyHitters(capacity, room);
  const labels: number[] = [];
  for (const [key, weight] of hits) {
    exact.add(key, weight);
    const entry = sketch.add(hashOf(key), weight);
    if (entry >= 0) labels[entry] = key;
  }
  const entries = Array.from(sketch.entries(), (one) => ({ ...one, label: labels[one.entry]! }));
  return { exact, sketch, entries };
}

/** Checks what the description of the class promises. */
function check({ exact, sketch, entries }: ReturnType<typeof count>): void {
  assert.equal(sketch.total, exact.total);
  const most = exact.total / sketch.capacity;
  const watched = new Map(entries.map((entry) => [entry.label, entry]));
  assert.ok(watched.size <= sketch.capacity);
  assert.ok(sketch.bound <= most, `a key that is not watched may have ${sketch.bound} of ${most} hits`);
  for (const [key, hits] of exact.counts) {
    const entry = watched.get(key);
    if (entry === undefined) {
      assert.ok(hits <= sketch.boundOf(hashOf(key)), `key ${key} has ${hits} hits and is missing`);
      assert.ok(sketch.boundOf(hashOf(key)) <= sketch.bound);
      continue;
    }
    assert.equal(entry.hash, hashOf(key));
    assert.ok(hits <= entry.count && hits >= entry.count - entry.error, `key ${key}: ${hits}`);
    assert.ok(entry.error <= most, `an error of ${entry.error}, with at most ${most}`);
  }
  for (const key of watched.keys()) assert.ok(exact.counts.has(key));
}

/** Hits whose keys follow Zipf's law. */
function* zipf(number: number, keys: number, exponent: number, seed: number): Generator<[number, number]> {
  const sums: number[] = [];
  let sum = 0;
  for (let rank = 1; rank <= keys; rank++) {
    sum += rank ** -exponent;
    sums.push(sum);
  }
  let state = seed;
  for (let index = 0; index < number; index++) {
    state = (Math.imul(state, 0x19660d) + 0x3c6ef35f) | 0;
    const wanted = ((state >>> 0) / 2 ** 32) * sum;
    let low = 0;
    for (let high = keys - 1; low < high; ) {
      const middle = (low + high) >>> 1;
      if (sums[middle]! < wanted) low = middle + 1;
      else high = middle;
    }
    yield [low, 1];
  }
}

describe("the keys with the most hits", () => {
  it("have counts within their error for any hits, and include every key above its share", () => {
    const hits = fc.array(fc.tuple(fc.nat(60), fc.integer({ min: 1, max: 50 })), { maxLength: 600 });
    fc.assert(
      fc.property(
        hits,
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 0, max: 64 }),
        (all, capacity, size) => check(count(all, capacity, { size, taken: 0 })),
      ),
    );
  });

  it("are within the bounds on Zipf traffic, for any exponent", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 2, noNaN: true }),
        fc.integer(),
        fc.constantFrom(16, 50, 128),
        (exponent, seed, capacity) => check(count(zipf(3000, 2000, exponent, seed), capacity)),
      ),
      { numRuns: 30 },
    );
  });

  it("are exact as long as there is memory for all", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.nat(127),
            fc.nat(9).map((more) => more + 1),
          ),
        ),
        (all) => {
          const { exact, entries } = count(all, 128);
          const counted = entries.map(({ label, count: hits, error }) => [label, hits, error]);
          assert.deepEqual(
            counted.sort(([a], [b]) => a! - b!),
            [...exact.counts].map(([key, hits]) => [key, hits, 0]).sort(([a], [b]) => a! - b!),
          );
        },
      ),
    );
  });

  // 200,000 hits on 100,000 keys, 128 watched: the bound is 1,562.
  for (const { exponent, error, inOrder } of [
    { exponent: 0.8, error: 0.25, inOrder: 5 },
    { exponent: 1, error: 0.2, inOrder: 15 },
    { exponent: 1.2, error: 0.1, inOrder: 25 },
    { exponent: 1.5, error: 0.05, inOrder: 30 },
  ])
    it(`on Zipf traffic with exponent ${exponent}, the error is at most ${error} of the bound and the first ${inOrder} are right`, () => {
      const counted = count(zipf(200_000, 100_000, exponent, 7), 128);
      check(counted);
      const { exact, entries } = counted;
      const errors = entries.map((entry) => entry.error);
      const most = Math.max(...errors) / (exact.total / 128);
      assert.ok(most <= error, `the greatest error is ${most} of the bound`);
      const top = entries.sort((a, b) => b.count - a.count).slice(0, inOrder);
      const right = [...exact.counts].sort(([, a], [, b]) => b - a).slice(0, inOrder);
      assert.deepEqual(new Set(top.map(({ label }) => label)), new Set(right.map(([key]) => key)));
    });

  it("take no more room than there is, and return it", () => {
    const room = { size: 20, taken: 0 };
    const first = count(zipf(1000, 500, 1, 1), 128, room).sketch;
    assert.equal(first.capacity, 16);
    const second = count(zipf(1000, 500, 1, 1), 128, room).sketch;
    assert.equal(second.capacity, 8);
    assert.equal(room.taken, 24);
    first.release();
    second.release();
    assert.equal(room.taken, 0);
  });
});
