import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Balancer, chooseRelease } from "./balance.ts";

const cases: [counts: number[], release: ReturnType<typeof chooseRelease>][] = [
  [[0, 0, 0, 0], undefined],
  [[1, 0, 0, 0], undefined],
  [[1, 1, 1, 1], undefined],
  [[2, 1, 1, 0], { thread: 0, connections: 1 }],
  [[0, 2], { thread: 1, connections: 1 }],
  [[0, 0, 4, 0], { thread: 2, connections: 2 }],
  [[3, 3, 0], { thread: 0, connections: 1 }],
  [[2, 0, 2], { thread: 0, connections: 1 }],
  [[30, 20, 25], undefined],
  [[100, 0, 0, 0], { thread: 0, connections: 38 }],
  [[9, 1, 1, 1], { thread: 0, connections: 3 }],
];
for (const [counts, release] of cases)
  test(`connections ${counts.join(", ")}: ${JSON.stringify(release) ?? "nothing"} is released`, () => {
    assert.deepEqual(chooseRelease(counts), release);
  });

test("with assignment by chance every thread gets work within a few releases", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 8 }),
      fc.integer({ min: 0, max: 100 }),
      fc.integer({ min: 1, max: 2 ** 31 - 2 }),
      (threads, more, seed) => {
        // The generator of Park and Miller. Arbitrary numbers would let chance always choose the same thread.
        let state = seed;
        const chance = () => {
          state = (state * 16_807) % (2 ** 31 - 1);
          return state;
        };
        const counts = new Array<number>(threads).fill(0);
        counts[0] = threads + more;
        const balancer = new Balancer();
        let checks = 0;
        for (; checks < 1000 && counts.includes(0); checks++) {
          const release = balancer.check(counts);
          if (release === undefined) continue;
          counts[release.thread]! -= release.connections;
          for (let one = 0; one < release.connections; one++) counts[(chance() >> 8) % threads]!++;
        }
        assert.ok(!counts.includes(0), `${counts}`);
      },
    ),
  );
});

test("a difference that lasts for one check only moves nothing", () => {
  const balancer = new Balancer();
  for (let check = 0; check < 10; check++) {
    assert.equal(balancer.check([2, 0]), undefined);
    assert.equal(balancer.check([1, 0]), undefined);
  }
});

test("callers that always reach the same thread are asked 30 times, and again after a minute", () => {
  const balancer = new Balancer();
  const asked = Array.from({ length: 31 + 60 + 30 }, () => balancer.check([2, 0]) !== undefined);
  assert.equal(asked.slice(0, 31).filter(Boolean).length, 30);
  assert.ok(!asked.slice(31, 31 + 60).includes(true));
  assert.ok(asked.slice(31 + 60).includes(true));
});
