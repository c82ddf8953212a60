import assert from "node:assert/strict";
import { test } from "node:test";
import { EmbeddedStore } from "../counters/embedded/embedded-store.ts";
import type { CounterStore, CountRequest } from "../counters/store.ts";
import { plainOptions } from "../decision/decide.fixture.ts";
import { Decider } from "../decision/decide.ts";
import { PendingDecision } from "../decision/pending-decision.ts";
import { createLogger } from "../observe/log.ts";
import { createStatistics } from "../observe/registry.ts";
import { encodeRequest } from "../protocol/encode-request.ts";
import { Code, type RateLimitResponse } from "../protocol/messages.ts";
import { loadRules } from "../rules/load-rules.ts";
import { RateLimitHandler } from "./rate-limit-handler.ts";

const NOW = 1_783_296_005_250;

/** Answers in a later turn of the event loop, like a remote store. */
class LaterStore implements CounterStore {
  readonly kind = "kvstore";
  readonly #store: EmbeddedStore;
  constructor(store: EmbeddedStore) {
    this.#store = store;
  }
  async count(request: CountRequest): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#store.count(request);
  }
  close(): Promise<void> {
    return this.#store.close();
  }
}

function handler(wrap: (store: EmbeddedStore) => CounterStore = (store) => store, now = () => NOW) {
  const store = wrap(EmbeddedStore.create({ sizeInBytes: 1 << 20, reclaimInterval: 0 }));
  const statistics = createStatistics();
  function rulesOf(limit: number) {
    const text = `domain: d\ndescriptors:\n  - { key: user, rate_limit: { unit: year, requests_per_unit: ${limit} } }\n`;
    return loadRules([{ name: "d.yaml", text }], { mergeDomains: false }).ruleSet!;
  }
  let ruleSet = rulesOf(3);
  const decider = new Decider(plainOptions, statistics, store);
  return {
    it: new RateLimitHandler({
      decider,
      store,
      statistics,
      ruleSet: () => ruleSet,
      log: createLogger({ level: "panic" }),
      now,
    }),
    setLimit(limit: number) {
      ruleSet = rulesOf(limit);
    },
  };
}

const descriptors = (...users: string[]) => users.map((value) => ({ entries: [{ key: "user", value }] }));
const binary = (...users: string[]): Uint8Array =>
  encodeRequest({
    domain: "d",
    hitsAddend: 0,
    descriptors: descriptors(...users).map((descriptor) => ({
      ...descriptor,
      limit: undefined,
      hitsAddend: undefined,
      isNegativeHits: false,
    })),
  });
const json = (...users: string[]): Uint8Array =>
  Buffer.from(JSON.stringify({ domain: "d", descriptors: descriptors(...users) }));

/** The parts of a response that a caller reads. */
function seen({ overallCode, statuses }: RateLimitResponse): string {
  const each = statuses.map(
    ({ code, limitRemaining }) => `${code === Code.OK ? "ok" : "over"} ${limitRemaining}`,
  );
  return `${overallCode === Code.OK ? "OK" : "OVER"}: ${each.join(", ")}`;
}

type Ask = (it: RateLimitHandler, ...users: string[]) => RateLimitResponse | Promise<RateLimitResponse>;
const forms: [string, Ask][] = [
  [
    "a message",
    (it, ...users) => {
      const bytes = binary(...users);
      const answer = it.decideMessage(bytes, 0, bytes.length, NOW, 0);
      if (!(answer instanceof PendingDecision)) return answer;
      return answer.promise();
    },
  ],
  ["JSON", (it, ...users) => it.decideJson(json(...users))],
];

for (const [form, ask] of forms) {
  test(`${form} that is repeated is counted each time`, () => {
    const { it, setLimit } = handler();
    const answers = Array.from({ length: 5 }, () => seen(ask(it, "ann", "bob") as RateLimitResponse));
    assert.deepEqual(answers, [
      "OK: ok 2, ok 2",
      "OK: ok 1, ok 1",
      "OK: ok 0, ok 0",
      "OVER: over 0, over 0",
      "OVER: over 0, over 0",
    ]);
    assert.equal(seen(ask(it, "bob") as RateLimitResponse), "OVER: over 0");
    setLimit(10);
    assert.equal(seen(ask(it, "ann", "bob") as RateLimitResponse), "OK: ok 4, ok 3");
  });

  test(`${form} that is repeated while the store counts has its own response each time`, async () => {
    const { it } = handler((store) => new LaterStore(store));
    for (let call = 0; call < 3; call++) await ask(it, `warm ${call}`);
    const answers = await Promise.all(Array.from({ length: 4 }, () => ask(it, "ann")));
    assert.equal(new Set(answers).size, 4);
    assert.deepEqual(answers.map(seen), ["OK: ok 2", "OK: ok 1", "OK: ok 0", "OVER: over 0"]);
  });
}

test("an invalid message and invalid JSON are refused each time", () => {
  const { it } = handler();
  for (let call = 0; call < 3; call++) {
    assert.throws(() => it.decideMessage(Buffer.from([0xff]), 0, 1, NOW, 0), { name: "WireError" });
    assert.throws(() => it.decideJson(Buffer.from("{")), { name: "JsonRequestError" });
  }
});

test("a request has one instant for all its windows", async () => {
  let year = 0;
  const { it } = handler(undefined, () => NOW + 31_536_000_000 * year++);
  const left = async () => {
    const { statuses } = await it.decideJson(json("a", "a", "a"));
    return statuses.map(({ limitRemaining }) => limitRemaining);
  };
  assert.deepEqual(await left(), [2, 1, 0]);
  assert.equal(year, 1, "the clock was read once");
  assert.deepEqual(await left(), [2, 1, 0], "in the next window");
});
