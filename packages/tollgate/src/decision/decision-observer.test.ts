import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { EmbeddedStore } from "../counters/embedded/embedded-store.ts";
import type { CountRequest } from "../counters/store.ts";
import { Sampling } from "../observe/decision-log/sampling.ts";
import { KeyMask } from "../observe/key-mask.ts";
import { mergeTopKeys } from "../observe/top-keys/merge-top-keys.ts";
import { ThreadTopKeys } from "../observe/top-keys/thread-top-keys.ts";
import { encodeRequest } from "../protocol/encode-request.ts";
import { type RateLimitRequest, Unit } from "../protocol/messages.ts";
import { RequestPlaces } from "../protocol/scan-request.ts";
import { loadRules } from "../rules/load-rules.ts";
import { MapStatistics, plainOptions } from "./decide.fixture.ts";
import { Decider } from "./decide.ts";
import { DecisionObserver } from "./decision-observer.ts";
import { DecisionRecorder } from "./decision-recorder.ts";
import { PendingDecision } from "./pending-decision.ts";

/** Whether the schema of the log names every field of a line. */
const isDescribed = new Ajv2020({ strict: false }).compile(
  JSON.parse(
    readFileSync(new URL("../../schema/decision.schema.json", import.meta.url), "utf8"),
    (_, value) => (value?.type === "object" ? { ...value, additionalProperties: false } : value),
  ),
);

const WINDOW = 600_000;
const START = 1_700_000_100_000;
const { ruleSet } = loadRules(
  [
    {
      name: "d.yaml",
      text: `domain: d
descriptors:
  - { key: user, rate_limit: { unit: year, requests_per_unit: 3 } }
  - { key: shared, value: a*, share_threshold: true, rate_limit: { unit: year, requests_per_unit: 100 } }
  - { key: free, rate_limit: { unlimited: true } }
  - { key: shadow, shadow_mode: true, rate_limit: { unit: year, requests_per_unit: 0 } }
  - { key: wide, rate_limit: { unit: hour, unit_multiplier: 36, requests_per_unit: 9 } }
  - key: several
    rate_limits: [{ unit: day, requests_per_unit: 1 }, { unit: year, requests_per_unit: 2, name: y }]
`,
    },
  ],
  { mergeDomains: false },
);

/** The embedded store, which answers at once, or later like a remote one. */
function storeOf(later: boolean) {
  const store = EmbeddedStore.create({ sizeInBytes: 1 << 20, reclaimInterval: 0 });
  if (!later) return store;
  return {
    kind: "remote",
    count: async (request: CountRequest) => {
      await Promise.resolve();
      store.count(request);
    },
    acquire: async (request: Parameters<typeof store.acquire>[0]) => {
      await Promise.resolve();
      store.acquire(request);
    },
    close: () => store.close(),
  };
}

function create(later = false) {
  const mask = new KeyMask({ keys: [], style: "hash", salt: "" });
  const topKeys = new ThreadTopKeys({ size: 16, window: WINDOW, mask });
  const lines: string[] = [];
  const sampling = new Sampling({ rate: 1, refusalsPerSecond: 0 });
  const recorder = new DecisionRecorder({ sampling, mask, write: (line) => lines.push(line) });
  const observer = new DecisionObserver({ topKeys, recorder, mask, seed: 7 });
  const decider = new Decider({ ...plainOptions, observer }, new MapStatistics(), storeOf(later));
  const places = new RequestPlaces();
  const ask = async (request: RateLimitRequest, now: number, inPlace: boolean) => {
    if (!inPlace) return decider.decide(decider.prepare(request, ruleSet), now, 0);
    const bytes = encodeRequest(request);
    places.scan(bytes, 0, bytes.length);
    const answer = decider.decideInPlace(places, ruleSet, now, 0);
    // The connection reads the next message into the same memory.
    bytes.fill(0);
    return answer instanceof PendingDecision ? answer.promise() : answer;
  };
  const read = (now: number) =>
    mergeTopKeys(topKeys.read(now, 100), 100).rules.map(({ rule, hits, refused, keys, refusedKeys }) => ({
      rule,
      hits,
      refused,
      keys: keys.map((key) => [key.entries.flat().join("="), key.hits, key.error]),
      refusedKeys: refusedKeys.map((key) => [key.entries.flat().join("="), key.hits, key.error]),
    }));
  return { ask, read, recorder, lines };
}

const requestFor = (
  hits: number,
  isNegativeHits: boolean,
  ...descriptors: [string, string][]
): RateLimitRequest => ({
  domain: "d",
  hitsAddend: 0,
  descriptors: descriptors.map(([key, value]) => ({
    entries: [{ key, value }],
    limit: undefined,
    hitsAddend: hits,
    isNegativeHits,
  })),
});

describe("the observer of decisions", () => {
  for (const later of [false, true])
    for (const inPlace of [false, true])
      it(`counts keys of every kind of rule (${later ? "remote" : "own"} store, ${inPlace ? "in place" : "texts"})`, async () => {
        const { ask, read } = create(later);
        const send = (...request: Parameters<typeof requestFor>) =>
          ask(requestFor(...request), START, inPlace);
        await send(2, false, ["user", "alice"], ["user", "bob"], ["unknown", "x"]);
        await send(2, false, ["user", "alice"]);
        await send(0, false, ["user", "alice"]);
        await send(1, true, ["user", "bob"]);
        await send(1, false, ["user", "über %|="]);
        await send(1, false, ["shared", "ab"], ["shared", "ac"]);
        await send(1, false, ["free", "x"]);
        await send(1, false, ["shadow", "x"]);
        await send(1, false, ["several", "x"]);
        await send(1, false, ["several", "x"]);
        assert.deepEqual(read(START), [
          {
            rule: "d.user",
            hits: 7,
            refused: 3,
            keys: [
              ["user=alice", 4, 0],
              ["user=bob", 2, 0],
              ["user=über %|=", 1, 0],
            ],
            // Two hits, and a look at a counter above its limit.
            refusedKeys: [["user=alice", 3, 0]],
          },
          {
            rule: "d.several",
            hits: 2,
            refused: 1,
            keys: [["several=x", 2, 0]],
            refusedKeys: [["several=x", 1, 0]],
          },
          { rule: "d.shared_a*", hits: 2, refused: 0, keys: [["shared=a*", 2, 0]], refusedKeys: [] },
          { rule: "d.shadow", hits: 1, refused: 0, keys: [["shadow=x", 1, 0]], refusedKeys: [] },
        ]);
      });

  it("counts limits of requests as one rule of their domain", async () => {
    const { ask, read } = create();
    for (const value of ["a", "b"]) {
      const request = requestFor(1, false, ["user", value]);
      const limit = { requestsPerUnit: 1, unit: 4 };
      await ask(
        { ...request, descriptors: request.descriptors.map((one) => ({ ...one, limit })) },
        START,
        true,
      );
    }
    assert.deepEqual(
      read(START).map(({ rule, hits }) => [rule, hits]),
      [["d.(limits of requests)", 2]],
    );
  });

  it("forgets hits after the time span, and keeps them for at least half of it", async () => {
    const half = WINDOW / 2;
    const start = Math.floor(START / half) * half;
    const { ask, read } = create();
    const hits = (now: number) => read(now).map((rule) => rule.hits);
    await ask(requestFor(1, false, ["user", "a"]), start + half - 1, true);
    await ask(requestFor(1, false, ["user", "a"]), start + half, true);
    assert.deepEqual(hits(start + half), [2]);
    // The clock is set back a little.
    await ask(requestFor(1, false, ["user", "a"]), start + half - 1, true);
    assert.deepEqual(hits(start + 2 * half - 1), [3]);
    assert.deepEqual(hits(start + 2 * half), [2]);
    assert.deepEqual(hits(start + 3 * half), []);
    await ask(requestFor(1, false, ["user", "a"]), start, true);
    assert.deepEqual(hits(start), [1]);
  });

  it("keeps the true numbers within hits and hits + error, over threads and halves", async () => {
    const mask = new KeyMask({ keys: [], style: "hash", salt: "" });
    const events = fc.array(
      fc.tuple(fc.nat(2), fc.nat(60), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 1 })),
      { maxLength: 800 },
    );
    fc.assert(
      fc.property(events, (all) => {
        const threads = [0, 1, 2].map(() => new ThreadTopKeys({ size: 8, window: 2, mask }, 64));
        const rules = threads.map((thread) => thread.rule("d.k", "d.yaml:1"));
        const exact = new Map<string, number>();
        for (const half of [0, 1])
          for (const [thread, key, hits, at] of all) {
            if (at !== half) continue;
            exact.set(`${key}`, (exact.get(`${key}`) ?? 0) + hits);
            const { all: counts } = rules[thread]!;
            const label = counts.add(Math.imul(key + 1, 0x2545f491), hits, half);
            if (label >= 0) counts.labels.set(label, [["k", `${key}`]]);
          }
        const counted = threads.flatMap((thread) => thread.read(1, 1000));
        const total = [...exact.values()].reduce((sum, hits) => sum + hits, 0);
        if (total === 0) return assert.deepEqual(counted, []);
        const [rule] = mergeTopKeys(counted, 1000).rules;
        assert.equal(rule!.hits, total);
        const listed = new Map(rule!.keys.map((key) => [key.entries[0]![1], key]));
        for (const [key, hits] of exact) {
          const found = listed.get(key);
          if (found === undefined) assert.ok(hits <= total / 8, `${key} with ${hits} of ${total} is missing`);
          else assert.ok(hits >= found.hits && hits <= found.hits + found.error, `${key}: ${hits}`);
          if (found !== undefined) assert.ok(found.error <= total / 8, `${found.error} of ${total}`);
        }
        // A short list has the same numbers, or wider ones.
        for (const key of mergeTopKeys(
          threads.flatMap((thread) => thread.read(1, 4)),
          2,
        ).rules[0]!.keys) {
          const hits = exact.get(key.entries[0]![1])!;
          assert.ok(hits >= key.hits && hits <= key.hits + key.error, `${hits}`);
        }
      }),
    );
  });

  it("records decisions whose store answers later, also if recording begins meanwhile", async () => {
    const { ask, recorder, lines } = create(true);
    const first = ask(requestFor(1, false, ["user", "a"]), START, true);
    recorder.active = true;
    await first;
    await ask(requestFor(1, false, ["user", "b"]), START, true);
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).descriptors[0].entries),
      [[["user", "a"]], [["user", "b"]]],
    );
  });

  it("records the unit of a limit, and how many units its window has", async () => {
    const { ask, recorder, lines } = create();
    recorder.active = true;
    for (const unitMultiplier of [undefined, 15]) {
      const limit = { requestsPerUnit: 5, unit: Unit.MINUTE, unitMultiplier };
      const of = requestFor(1, false, ["user", "a"], ["wide", "a"]);
      const [own, wide] = of.descriptors;
      await ask({ ...of, descriptors: [{ ...own!, limit }, wide!] }, START, true);
    }
    const minute = { requests_per_unit: 5, unit: "minute" };
    const wide = { requests_per_unit: 9, unit: "hour", unit_multiplier: 36 };
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).descriptors.map((one: { limit: object }) => one.limit)),
      [
        [minute, wide],
        [{ ...minute, unit_multiplier: 15 }, wide],
      ],
    );
    for (const line of lines) assert.ok(isDescribed(JSON.parse(line)), JSON.stringify(isDescribed.errors));
  });
});
