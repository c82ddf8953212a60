/**
 * The conformance suite of all counter stores. A store's test file calls {@link storeConformance} once for each
 * configuration.
 *
 * The names of keys contain the test and a random part, so a store may keep its contents between tests. Times come from
 * the real clock: a store that sets expiries in a server needs windows that have not ended.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import {
  type Count,
  type CounterStore,
  type CountRequest,
  HoldBack,
  MAX_COUNT,
  Outcome,
  Refuses,
  type StemPlace,
} from "../../src/counters/store.ts";
import { ModelStore } from "./model.ts";

export interface ConformanceOptions {
  /** Opens a store. The suite closes it. Use `t.after` for everything else. */
  readonly makeStore: (t: TestContext) => CounterStore | Promise<CounterStore>;
  /** Opens a second store on the same counters, like another process. Without it, tests with two stores are left out. */
  readonly makePeer?: (t: TestContext, store: CounterStore) => CounterStore | Promise<CounterStore>;
  /**
   * Resolves when every answered increment is in the store. For stores that answer before they count: their results
   * must be exact in sequence only, not under concurrency.
   */
  readonly settle?: (store: CounterStore) => Promise<void>;
  /** Whether counts that hold each other back are also exact under concurrency: `atomic` (default), or `sequential`. */
  readonly holdBack?: "atomic" | "sequential";
  /** Whether the store still has the counter with this key (`stem + windowStart`). */
  readonly holds?: (store: CounterStore, key: string) => boolean | Promise<boolean>;
  /** Milliseconds after its window's end in which a counter must disappear (with `holds`). Default 5000. */
  readonly goneWithin?: number;
}

interface CountFields {
  readonly stem: string;
  readonly hits?: number;
  readonly limit?: number;
  readonly refuses?: Refuses;
  readonly windowStart?: number;
  readonly windowSize?: number;
}

/** A count with impossible results, so that tests notice a missing result. */
export function makeCount(fields: CountFields): Count {
  const windowSize = fields.windowSize ?? 3600;
  return {
    stem: fields.stem,
    windowStart: fields.windowStart ?? windowOf(windowSize),
    windowSize,
    hits: fields.hits ?? 1,
    limit: fields.limit ?? 1_000_000,
    refuses: fields.refuses ?? Refuses.ALWAYS,
    outcome: -1 as Outcome,
    after: -1,
  };
}

/** The place of the stem `text[start, end)` in memory, between bytes that are not part of it. */
export function placeOf(text: Buffer, start: number, end: number): StemPlace {
  const bytes = Buffer.allocUnsafeSlow((end - start + 12) & ~3).fill("?");
  text.copy(bytes, 4, start, end);
  return { bytes, words: new Int32Array(bytes.buffer), start: 4, end: 4 + end - start };
}

export function placeOfText(stem: string): StemPlace {
  const bytes = Buffer.from(`..${stem}.`);
  return placeOf(bytes, 2, bytes.length - 1);
}

/** Gives a store the stems of counts as places, where they are ASCII. */
export function inPlace(store: CounterStore): CounterStore {
  return {
    kind: store.kind,
    close: () => store.close(),
    async count(request) {
      const counts = request.counts.map((count) => {
        if (!/^[ -~]*$/.test(count.stem)) return { ...count };
        return { ...count, stem: "", place: placeOfText(count.stem) };
      });
      await store.count({ ...request, counts });
      counts.forEach(({ outcome, after }, index) => {
        Object.assign(request.counts[index]!, { outcome, after });
      });
    },
  };
}

export function makeRequest(counts: readonly Count[], fields: Partial<CountRequest> = {}): CountRequest {
  return { counts, holdBack: HoldBack.NEVER, now: Date.now(), deadline: 0, ...fields };
}

/** The start of the current window of this size, in seconds. */
export function windowOf(size: number): number {
  const seconds = Math.floor(Date.now() / 1000);
  return seconds - (seconds % size);
}

export function storeConformance(name: string, options: ConformanceOptions): void {
  const { makeStore, makePeer, settle, holds } = options;
  const immediate = settle === undefined;

  async function open(t: TestContext): Promise<CounterStore> {
    const store = await makeStore(t);
    t.after(() => store.close());
    return store;
  }

  /** Makes counts in one request, waits for the store, and returns `outcome after` pairs. */
  async function run(
    store: CounterStore,
    fields: readonly CountFields[],
    holdBack: HoldBack = HoldBack.NEVER,
  ) {
    const counts = fields.map(makeCount);
    await store.count(makeRequest(counts, { holdBack }));
    await settle?.(store);
    return counts.map((count) => [count.outcome, count.after]);
  }

  async function after(store: CounterStore, fields: CountFields): Promise<number> {
    const [[outcome, value]] = (await run(store, [fields])) as [[Outcome, number]];
    assert.equal(outcome, Outcome.COUNTED);
    return value;
  }

  const stemOf = (t: TestContext) => `conformance|${t.name.replaceAll(" ", "_")}=${randomUUID()}|hour:`;
  const counted = (...values: number[]) => values.map((value) => [Outcome.COUNTED, value]);

  describe(`${name}: conformance`, () => {
    test("hits of any size add up", async (t) => {
      const store = await open(t);
      const stem = stemOf(t);
      let sum = 0;
      for (const hits of [1, 1, 7, 1000, 4_294_967_295, 2 ** 40, 1]) {
        sum += hits;
        assert.equal(await after(store, { stem, hits }), sum, `after ${hits} more`);
      }
    });

    test("a look changes nothing", async (t) => {
      const store = await open(t);
      const stem = stemOf(t);
      assert.equal(await after(store, { stem, hits: 0 }), 0, "a missing counter");
      assert.equal(await after(store, { stem, hits: 0 }), 0);
      assert.equal(await after(store, { stem, hits: 5 }), 5);
      assert.equal(await after(store, { stem, hits: 0 }), 5);
      assert.equal(await after(store, { stem, hits: 0 }), 5);
    });

    test("counters saturate at 2^53 - 1 and can decrease again", async (t) => {
      const store = await open(t);
      const stem = stemOf(t);
      assert.equal(await after(store, { stem, hits: MAX_COUNT - 1 }), MAX_COUNT - 1);
      assert.equal(await after(store, { stem, hits: 1 }), MAX_COUNT);
      assert.equal(await after(store, { stem, hits: 1 }), MAX_COUNT);
      assert.equal(await after(store, { stem, hits: MAX_COUNT }), MAX_COUNT);
      assert.equal(await after(store, { stem, hits: 0 }), MAX_COUNT);
      assert.equal(await after(store, { stem, hits: -(MAX_COUNT - 3) }), 3);
    });

    test("a refund stops at 0", async (t) => {
      const store = await open(t);
      const stem = stemOf(t);
      assert.equal(await after(store, { stem, hits: -3 }), 0, "a missing counter");
      assert.equal(await after(store, { stem, hits: 10 }), 10);
      assert.equal(await after(store, { stem, hits: -4 }), 6);
      assert.equal(await after(store, { stem, hits: -100 }), 0);
      assert.equal(await after(store, { stem, hits: -MAX_COUNT }), 0);
      assert.equal(await after(store, { stem, hits: 2 }), 2, "the counter is not below 0");
    });

    test("each window has its own counter", async (t) => {
      const store = await open(t);
      const stem = stemOf(t);
      const now = windowOf(3600);
      const at = (windowStart: number, hits: number) => after(store, { stem, hits, windowStart });
      assert.equal(await at(now, 3), 3);
      assert.equal(await at(now + 3600, 1), 1);
      assert.equal(await at(now, 1), 4);
      assert.equal(await at(now + 7200, 0), 0);
      assert.equal(await at(now + 3600, 1), 2);
    });

    test("different keys never share a counter", async (t) => {
      const store = await open(t);
      const part = randomUUID();
      const stems = [
        `a|k=${part}|hour:`,
        `a|k=${part}|hours:`,
        `a|k=${part}|day:`,
        `A|k=${part}|hour:`,
        `a|k=${part}1|hour:`,
        `a|k=${part}é|hour:`,
        `a|k=${part}e|hour:`,
        `a|k=${part}${"x".repeat(100)}|hour:`,
        `a|k=${part}${"x".repeat(101)}|hour:`,
        `|k=${part}|hour:`,
      ];
      for (const [index, stem] of stems.entries())
        assert.equal(await after(store, { stem, hits: index + 1 }), index + 1, stem);
      for (const [index, stem] of stems.entries())
        assert.equal(await after(store, { stem, hits: 0 }), index + 1, stem);
    });

    test("several counters in one request have results in its order", async (t) => {
      const store = await open(t);
      const stem = stemOf(t);
      const many = Array.from({ length: 20 }, (_, index) => ({ stem: `${stem}${index}:`, hits: index }));
      const once = many.map((_, index) => index);
      assert.deepEqual(await run(store, many), counted(...once));
      assert.deepEqual(await run(store, many), counted(...once.map((value) => value * 2)));
      const minute = { stem: `${stem}m:`, windowSize: 60, hits: 2 };
      assert.deepEqual(await run(store, [many[3]!, minute, many[1]!]), counted(9, 2, 3));
    });

    test("answers an empty request", async (t) => {
      const store = await open(t);
      assert.deepEqual(await run(store, []), []);
      assert.deepEqual(await run(store, [], HoldBack.WHEN_REFUSED), []);
    });

    if (immediate)
      test("the same counter twice in one request has a position for each count", async (t) => {
        const store = await open(t);
        const stem = stemOf(t);
        const fields = [1, 5, 0, -2, 10].map((hits) => ({ stem, hits }));
        assert.deepEqual(await run(store, fields), counted(1, 6, 6, 4, 14));
        const other = `${stem}other:`;
        assert.deepEqual(await run(store, [{ stem }, { stem: other }, { stem }]), counted(15, 1, 16));
      });

    test("a limit holds nothing back without holdBack", async (t) => {
      const store = await open(t);
      const stem = stemOf(t);
      assert.deepEqual(await run(store, [{ stem, hits: 9, limit: 3 }]), counted(9));
      assert.deepEqual(await run(store, [{ stem, hits: 1, limit: 0 }]), counted(10));
    });

    describe("holding back", () => {
      const { COUNTED, HELD } = Outcome;
      const { WHEN_REFUSED, ALWAYS } = HoldBack;

      test("counts a counter that exceeds and holds the others back", async (t) => {
        const store = await open(t);
        const a = { stem: `${stemOf(t)}a:`, limit: 3 };
        const b = { stem: `${stemOf(t)}b:`, limit: 10 };
        for (const value of [1, 2, 3])
          assert.deepEqual(await run(store, [a, b], WHEN_REFUSED), counted(value, value));
        assert.deepEqual(await run(store, [a, b], WHEN_REFUSED), [
          [COUNTED, 4],
          [HELD, 3],
        ]);
        assert.deepEqual(await run(store, [b, a], WHEN_REFUSED), [
          [HELD, 3],
          [COUNTED, 5],
        ]);
        assert.deepEqual(await run(store, [b], WHEN_REFUSED), counted(4));
      });

      test("counts a single count of a request", async (t) => {
        const store = await open(t);
        const stem = stemOf(t);
        assert.deepEqual(await run(store, [{ stem, hits: 7, limit: 10 }], WHEN_REFUSED), counted(7));
        assert.deepEqual(await run(store, [{ stem, hits: 4, limit: 10 }], WHEN_REFUSED), counted(11));
        assert.deepEqual(await run(store, [{ stem, hits: 0, limit: 10 }], WHEN_REFUSED), counted(11));
      });

      test("counts every counter that exceeds and holds every other one back", async (t) => {
        const store = await open(t);
        const stem = stemOf(t);
        const fields = [
          { stem: `${stem}a:`, hits: 1, limit: 5 },
          { stem: `${stem}b:`, hits: 6, limit: 5 },
          { stem: `${stem}c:`, hits: 1, limit: 0 },
          { stem: `${stem}d:`, hits: 0, limit: 5 },
        ];
        for (const round of [1, 2])
          assert.deepEqual(await run(store, fields, WHEN_REFUSED), [
            [HELD, 0],
            [COUNTED, 6 * round],
            [COUNTED, round],
            [HELD, 0],
          ]);
      });

      test("a look exceeds only above the limit, and a refund never exceeds", async (t) => {
        const store = await open(t);
        const stem = stemOf(t);
        const other = `${stem}other:`;
        const pair = (hits: number, limit: number, otherLimit?: number) =>
          run(
            store,
            [
              { stem, hits, limit },
              { stem: other, ...(otherLimit !== undefined && { limit: otherLimit }) },
            ],
            WHEN_REFUSED,
          );
        await run(store, [{ stem, hits: 5, limit: 5 }]);
        assert.deepEqual(await pair(0, 5), counted(5, 1), "a look at the limit");
        assert.deepEqual(await pair(0, 4), [
          [COUNTED, 5],
          [HELD, 1],
        ]);
        assert.deepEqual(await pair(-2, 1), counted(3, 2), "a refund to above the limit");
      });

      test("counts a refund beside a counter that exceeds", async (t) => {
        const store = await open(t);
        const stem = stemOf(t);
        const over = { stem: `${stem}over:`, limit: 0 };
        await run(store, [{ stem, hits: 5 }]);
        assert.deepEqual(await run(store, [{ stem, hits: -2 }, over], WHEN_REFUSED), counted(3, 1));
        assert.deepEqual(await run(store, [over, { stem, hits: -9 }], WHEN_REFUSED), counted(2, 0));
        assert.deepEqual(await run(store, [{ stem, hits: -1 }], ALWAYS), counted(0));
      });

      test("has the results of the model for random requests", async (t) => {
        const store = await open(t);
        const count = fc.record({
          key: fc.nat({ max: 3 }),
          hits: fc.oneof(
            { weight: 4, arbitrary: fc.integer({ min: -3, max: 4 }) },
            { weight: 1, arbitrary: fc.constantFrom(MAX_COUNT, -MAX_COUNT) },
          ),
          limit: fc.integer({ min: 0, max: 6 }),
          refuses: fc.constantFrom(...Object.values(Refuses)),
        });
        const requests = fc.array(
          fc.record({
            holdBack: fc.constantFrom(...Object.values(HoldBack)),
            counts: immediate
              ? fc.array(count, { maxLength: 5 })
              : fc.uniqueArray(count, { maxLength: 4, selector: ({ key }) => key }),
          }),
          { maxLength: 12 },
        );
        await fc.assert(
          fc.asyncProperty(requests, async (sequence) => {
            const model = new ModelStore();
            const stem = stemOf(t);
            for (const { holdBack, counts } of sequence) {
              const fields = counts.map(({ key, ...rest }) => ({ stem: `${stem}${key}:`, ...rest }));
              const expected = model.count(makeRequest(fields.map(makeCount), { holdBack }));
              assert.deepEqual(await run(store, fields, holdBack), expected);
            }
          }),
          { numRuns: 60 },
        );
      });

      const { NEVER, TOGETHER } = Refuses;
      const refusals: [string, [Refuses, exceeds: boolean][], held: boolean][] = [
        ["a count that refuses", [[Refuses.ALWAYS, true]], true],
        ["one in shadow mode", [[NEVER, true]], false],
        [
          "one in shadow mode beside one that refuses",
          [
            [NEVER, true],
            [Refuses.ALWAYS, true],
          ],
          true,
        ],
        ["the only quota", [[TOGETHER, true]], true],
        [
          "one quota of two",
          [
            [TOGETHER, true],
            [TOGETHER, false],
          ],
          false,
        ],
        [
          "both quotas",
          [
            [TOGETHER, true],
            [TOGETHER, true],
          ],
          true,
        ],
        [
          "one quota of two beside one that refuses",
          [
            [TOGETHER, true],
            [TOGETHER, false],
            [Refuses.ALWAYS, true],
          ],
          true,
        ],
        [
          "no quota beside one in shadow mode",
          [
            [TOGETHER, false],
            [NEVER, true],
          ],
          false,
        ],
      ];
      for (const [name, parts, held] of refusals)
        test(`${held ? "holds back" : "holds nothing back"}: ${name}`, async (t) => {
          const store = await open(t);
          const stem = stemOf(t);
          const fields = [
            { stem: `${stem}rest:`, limit: 5 },
            ...parts.map(([refuses, exceeds], index) => ({
              stem: `${stem}${index}:`,
              limit: exceeds ? 0 : 5,
              refuses,
            })),
          ];
          assert.deepEqual(
            await run(store, fields, WHEN_REFUSED),
            fields.map(({ limit }) => (held && limit > 0 ? [HELD, 0] : [COUNTED, 1])),
          );
          for (const { stem, limit } of fields)
            assert.equal(await after(store, { stem, hits: 0 }), held && limit > 0 ? 0 : 1, stem);
        });

      test("a count outside the request holds back all counts that do not exceed", async (t) => {
        const store = await open(t);
        const stem = stemOf(t);
        const fields = [
          { stem: `${stem}a:`, limit: 5 },
          { stem: `${stem}b:`, limit: 0, refuses: NEVER },
          { stem: `${stem}c:`, limit: 5, refuses: TOGETHER },
        ];
        assert.deepEqual(await run(store, fields, ALWAYS), [
          [HELD, 0],
          [COUNTED, 1],
          [HELD, 0],
        ]);
        assert.deepEqual(await run(store, fields.slice(0, 1), ALWAYS), [[HELD, 0]]);
        assert.deepEqual(await run(store, fields.slice(1, 2), ALWAYS), counted(2));
      });

      test("a counter that exceeds saturates and can decrease again", async (t) => {
        const store = await open(t);
        const stem = stemOf(t);
        const pair = (hits: number) =>
          run(store, [{ stem, hits, limit: 5 }, { stem: `${stem}other:` }], WHEN_REFUSED);
        for (let round = 0; round < 3; round++)
          assert.deepEqual((await pair(MAX_COUNT))[0], [COUNTED, MAX_COUNT]);
        assert.deepEqual((await pair(-(MAX_COUNT - 3)))[0], [COUNTED, 3]);
      });

      if (immediate)
        test("the same counter twice has a position for each count", async (t) => {
          const store = await open(t);
          const stem = stemOf(t);
          const other = `${stem}other:`;
          const twice = (first: number, second: number, limit: number) =>
            run(
              store,
              [
                { stem, hits: first, limit },
                { stem: other, limit },
                { stem, hits: second, limit },
              ],
              WHEN_REFUSED,
            );
          assert.deepEqual(await twice(2, 3, 5), counted(2, 1, 5));
          assert.deepEqual(await twice(2, 3, 9), [
            [COUNTED, 7],
            [HELD, 1],
            [COUNTED, 10],
          ]);
          assert.deepEqual(await twice(0, -5, 9), [
            [COUNTED, 10],
            [HELD, 1],
            [COUNTED, 5],
          ]);
          assert.deepEqual(await twice(0, 0, 5), counted(5, 2, 5));
          assert.deepEqual(
            await run(
              store,
              [1, -2, 1].map((hits) => ({ stem, hits })),
              ALWAYS,
            ),
            [
              [HELD, 5],
              [COUNTED, 3],
              [HELD, 3],
            ],
          );
        });

      if (immediate && options.holdBack !== "sequential")
        test("other counters grow exactly as often as the limit admits, under concurrency", async (t) => {
          const store = await open(t);
          const stem = stemOf(t);
          const limit = 20;
          const requests = Array.from({ length: 100 }, (_, index) =>
            makeRequest(
              [
                makeCount({ stem: `${stem}shared:`, limit }),
                makeCount({ stem: `${stem}${index % 4}:`, limit: 1000 }),
              ],
              { holdBack: WHEN_REFUSED },
            ),
          );
          await Promise.all(requests.map((request) => store.count(request)));
          const outcomes = requests.map(({ counts }) => counts.map(({ outcome }) => outcome).join());
          assert.equal(outcomes.filter((pair) => pair === `${COUNTED},${COUNTED}`).length, limit);
          assert.equal(outcomes.filter((pair) => pair === `${COUNTED},${HELD}`).length, 100 - limit);
          assert.ok((await after(store, { stem: `${stem}shared:`, hits: 0 })) > limit);
          let others = 0;
          for (const index of [0, 1, 2, 3])
            others += await after(store, { stem: `${stem}${index}:`, hits: 0 });
          assert.equal(others, limit);
        });
    });

    if (immediate) {
      test("concurrent calls have a position each", async (t) => {
        const store = await open(t);
        const stem = stemOf(t);
        const requests = Array.from({ length: 500 }, () => makeRequest([makeCount({ stem })]));
        await Promise.all(requests.map((request) => store.count(request)));
        const positions = requests.map(({ counts }) => counts[0]!.after).sort((a, b) => a - b);
        assert.deepEqual(
          positions,
          requests.map((_, index) => index + 1),
        );
      });

      test("concurrent calls of mixed sizes, with looks and other keys, add up", async (t) => {
        const store = await open(t);
        const stem = stemOf(t);
        const requests = Array.from({ length: 300 }, (_, index) =>
          makeRequest([
            makeCount({ stem: `${stem}${index % 7}:`, hits: index % 5 }),
            makeCount({ stem, hits: index % 3 }),
            makeCount({ stem: `${stem}${index % 7}:`, hits: 1 }),
          ]),
        );
        await Promise.all(requests.map((request) => store.count(request)));
        for (const { counts } of requests)
          assert.ok(counts[2]!.after > counts[0]!.after, "the second count of a request follows the first");
        for (let key = 0; key < 7; key++) {
          let sum = 0;
          for (let index = key; index < 300; index += 7) sum += (index % 5) + 1;
          assert.equal(await after(store, { stem: `${stem}${key}:`, hits: 0 }), sum);
        }
        assert.equal(await after(store, { stem, hits: 0 }), 300);
      });
    }

    if (makePeer !== undefined && immediate)
      test("two processes on the same counters are exact", async (t) => {
        const store = await open(t);
        const peer = await makePeer(t, store);
        t.after(() => peer.close());
        const stem = stemOf(t);
        const requests = Array.from({ length: 200 }, () => makeRequest([makeCount({ stem })]));
        await Promise.all(requests.map((request, index) => (index % 2 ? peer : store).count(request)));
        const positions = new Set(requests.map(({ counts }) => counts[0]!.after));
        assert.equal(positions.size, 200);
        assert.equal(await after(peer, { stem, hits: 0 }), 200);
      });

    if (holds !== undefined)
      test("a counter disappears after its window", async (t) => {
        const store = await open(t);
        const stem = stemOf(t);
        const windowStart = windowOf(1);
        await run(store, [{ stem, windowStart, windowSize: 1 }, { stem: `${stem}stays:` }]);
        const latest = (windowStart + 1) * 1000 + (options.goneWithin ?? 5000);
        while (await holds(store, `${stem}${windowStart}`)) {
          assert.ok(Date.now() < latest, "the counter still exists");
          await sleep(50);
        }
        assert.ok(await holds(store, `${stem}stays:${windowOf(3600)}`), "a current window keeps its counter");
      });

    test("can be closed twice", async (t) => {
      const store = await makeStore(t);
      await run(store, [{ stem: stemOf(t) }]);
      await store.close();
      await store.close();
    });
  });
}
