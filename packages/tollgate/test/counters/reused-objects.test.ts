/**
 * Decisions, their tickets and their memory are reused. While the store loses connections and answers after deadlines,
 * each caller must still get one end, and the numbers of its own request.
 */
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { EmbeddedStore } from "../../src/counters/embedded/embedded-store.ts";
import type { FailureMode } from "../../src/counters/failure-methods.ts";
import { FailurePolicy } from "../../src/counters/failure-policy.ts";
import { StoreError } from "../../src/counters/store.ts";
import { plainOptions } from "../../src/decision/decide.fixture.ts";
import { Decider } from "../../src/decision/decide.ts";
import { createKeyFormat } from "../../src/decision/key-format.ts";
import { PendingDecision } from "../../src/decision/pending-decision.ts";
import { createStatistics } from "../../src/observe/registry.ts";
import { encodeRequest } from "../../src/protocol/encode-request.ts";
import { Code, type RateLimitRequest, type RateLimitResponse } from "../../src/protocol/messages.ts";
import { DEFAULT_REQUEST_LIMITS } from "../../src/protocol/request-limits.ts";
import { RequestPlaces } from "../../src/protocol/scan-request.ts";
import { loadRules } from "../../src/rules/load-rules.ts";
import { FaultyProxy } from "../servers/proxy.ts";
import { RedisServer } from "../servers/redis.ts";
import { makeKvstore, until } from "./kvstore-support.ts";

const settings = [
  "",
  "algorithm: token_bucket",
  "count: accepted",
  "algorithm: sliding_window",
  "strict: true",
  "",
];
/** Each rule has another limit, so that an answer shows whose it is. */
const limitOf = (rule: number) => 1000 + rule;
const text = `{ domain: d, descriptors: [${settings
  .map(
    (setting, rule) =>
      `{ key: k${rule}, rate_limit: { unit: day, requests_per_unit: ${limitOf(rule)}, ${setting} } }`,
  )
  .join()}] }`;
const { ruleSet } = loadRules([{ name: "rules.yaml", text }], { mergeDomains: false });

let redis: RedisServer;
before(async () => {
  redis = await RedisServer.start();
});
after(() => redis.stop());

const TURNS = 60;
const CALLS = 25;

/** A decision of some rules for a value that no other call has. */
class Caller {
  ends = 0;
  readonly faults: string[] = [];
  readonly #rules: readonly number[];
  readonly #request: RateLimitRequest;
  readonly #mode: FailureMode;

  constructor(number: number, mode: FailureMode) {
    this.#mode = mode;
    const isPlain = number % 2 === 0;
    this.#rules = Array.from({ length: 1 + (number % 4) }, (_, index) =>
      isPlain ? (index % 2) * 5 : (number + index) % settings.length,
    );
    const length = number % 3 === 0 ? 300 : 16;
    const descriptors = this.#rules.map((rule, index) => ({
      entries: [{ key: `k${rule}`, value: `${mode}.${number}.${index}.`.padEnd(length, "x") }],
      limit: undefined,
      hitsAddend: undefined,
      isNegativeHits: false,
    }));
    this.#request = { domain: "d", descriptors, hitsAddend: 0 };
  }

  ask(decider: Decider, places: RequestPlaces, patience: number): void {
    const bytes = encodeRequest(this.#request);
    const now = Date.now();
    try {
      places.scan(bytes, 0, bytes.length, DEFAULT_REQUEST_LIMITS);
      const answer = decider.decideInPlace(places, ruleSet, now, patience === 0 ? 0 : now + patience);
      if (answer instanceof PendingDecision) answer.tell(this);
      else this.answered(answer);
    } catch (error) {
      this.failed(error);
    }
    // The connection reads the next message into this memory.
    bytes.fill(0);
  }

  answered({ statuses }: RateLimitResponse): void {
    this.ends++;
    for (const [index, rule] of this.#rules.entries()) {
      const { code, currentLimit, limitRemaining } = statuses[index]!;
      const limit = limitOf(rule);
      const isCounted = code === Code.OK && limitRemaining === limit - 1;
      const isDenied = this.#mode === "deny" && code === Code.OVER_LIMIT;
      if (currentLimit?.requestsPerUnit !== limit || !(isCounted || isDenied))
        this.faults.push(`limit ${limit}: ${JSON.stringify(statuses[index])}`);
    }
  }

  failed(error: unknown): void {
    this.ends++;
    if (!(error instanceof StoreError)) this.faults.push(String(error));
  }
}

async function failing(t: TestContext, mode: FailureMode, stopIncrementing: boolean) {
  const proxy = await FaultyProxy.start(redis.port);
  t.after(() => proxy.stop());
  const local = mode === "local" ? { local: EmbeddedStore.create({ sizeInBytes: 8 * 1024 ** 2 }) } : {};
  const store = new FailurePolicy(
    makeKvstore({ url: proxy.url, poolSize: 3, timeout: 200, onEmptyWait: 20 }),
    {
      mode,
      ...local,
      breaker: { failures: 100, openFor: 10, openForAtMost: 20 },
    },
  );
  t.after(() => store.close());
  const keyFormat = createKeyFormat({ format: "tollgate", prefix: "", backend: "kvstore" });
  const decider = new Decider({ ...plainOptions, stopIncrementing, keyFormat }, createStatistics(), store);
  const places = new RequestPlaces();
  const callers: Caller[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    for (let call = 0; call < CALLS; call++) {
      const caller = new Caller(callers.length, mode);
      callers.push(caller);
      caller.ask(decider, places, call % 3 === 0 ? 1 + (call % 20) : 0);
    }
    if (turn % 12 === 4) proxy.cutAfter = 500 * turn;
    if (turn % 12 === 6) proxy.held = (connection) => connection % 2 === 0;
    if (turn % 12 === 8) proxy.cut();
    if (turn % 12 === 9) {
      proxy.held = () => false;
      proxy.cutAfter = Number.POSITIVE_INFINITY;
    }
    await sleep(turn % 3);
  }
  proxy.held = () => false;
  proxy.cutAfter = Number.POSITIVE_INFINITY;
  await until("every call has ended", () => callers.every(({ ends }) => ends > 0));
  assert.deepEqual(
    callers.flatMap(({ ends, faults }) => (ends === 1 ? faults : [`${ends} ends`])),
    [],
  );
  assert.equal(store.inFlight, 0);
}

for (const [mode, stopIncrementing] of [
  ["error", false],
  ["deny", true],
  ["local", false],
] as const)
  test(`mode ${mode}, STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT ${stopIncrementing}`, (t) =>
    failing(t, mode, stopIncrementing));
