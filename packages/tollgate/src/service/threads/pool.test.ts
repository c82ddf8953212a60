import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { Client, credentials } from "@grpc/grpc-js";
import { scaled } from "../../../../../tools/time-scale.ts";
import { EmbeddedStore } from "../../counters/embedded/embedded-store.ts";
import { HoldBack, Refuses } from "../../counters/store.ts";
import { DecisionLog } from "../../observe/decision-log/decision-log.ts";
import { createHealth } from "../../observe/health.ts";
import { createLogger } from "../../observe/log.ts";
import { createStatistics } from "../../observe/registry.ts";
import { decodeRequest } from "../../protocol/decode-request.ts";
import { encodeRequest } from "../../protocol/encode-request.ts";
import { SHOULD_RATE_LIMIT } from "../../protocol/method.ts";
import { loadRules } from "../../rules/load-rules.ts";
import { Components } from "../components.ts";
import { MergedStatistics } from "./merged-statistics.ts";
import { ThreadPool } from "./pool.ts";

const rules = `
domain: d
descriptors:
  - key: k
    rate_limit: { unit: day, requests_per_unit: 1000 }
`;
const message = encodeRequest({
  domain: "d",
  descriptors: [
    { entries: [{ key: "k", value: "v" }], limit: undefined, hitsAddend: undefined, isNegativeHits: false },
  ],
  hitsAddend: 0,
});

/** Sends a request on a new connection. Resolves with the remaining hits, read from the bytes of the response. */
async function ask(address: string): Promise<void> {
  const client = new Client(address, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
  try {
    await new Promise<void>((resolve, reject) => {
      const pass = (bytes: Uint8Array) => Buffer.from(bytes);
      client.makeUnaryRequest(
        SHOULD_RATE_LIMIT,
        pass,
        pass,
        message,
        { deadline: Date.now() + scaled(5000) },
        (error) => (error === null ? resolve() : reject(error)),
      );
    });
  } finally {
    client.close();
  }
}

test("a thread that dies is replaced, and its counts are kept", {
  timeout: scaled(60_000),
}, async (t) => {
  assert.equal(decodeRequest(message, 0, message.length).domain, "d");
  // The pool's threads are private. The test finds each by its event listeners.
  const workers = new Set<Worker>();
  t.mock.method(Worker.prototype, "on", function (this: Worker, ...args: Parameters<Worker["on"]>) {
    workers.add(this);
    return Object.getPrototypeOf(Worker.prototype).on.apply(this, args);
  });
  const lines: string[] = [];
  const log = createLogger({
    writer: { dropped: 0, write: (line) => void lines.push(line), flush: async () => {} },
  });
  const embedded = EmbeddedStore.create({ sizeInBytes: 1024 * 1024 });
  const registry = createStatistics();
  const statistics = new MergedStatistics(registry);
  const health = createHealth(log);
  const environment = { BACKEND_TYPE: "embedded", DISABLE_STATS: "true" };
  const { ruleSet } = loadRules([{ name: "d.yaml", text: rules }], { mergeDomains: false });
  const pool = await ThreadPool.open({
    threads: 2,
    host: "127.0.0.1",
    port: 0,
    environment,
    embedded,
    invalidations: undefined,
    replicas: undefined,
    overrides: [],
    rules: ruleSet!.compiled,
    certificates: undefined,
    health,
    components: new Components(health),
    statistics,
    decisions: new DecisionLog({ writer: undefined, log, onDemand: () => {} }),
    log,
  });
  try {
    for (let call = 0; call < 20; call++) await ask(pool.address);
    await pool.collect();
    const first = [...workers];
    assert.equal(first.length, 2);
    await Promise.all(
      first.map(async (worker) => {
        const exit = once(worker, "exit");
        await worker.terminate();
        await exit;
      }),
    );
    // Both threads have ended. Calls succeed again when their replacements listen.
    let answered = 0;
    for (let attempt = 0; attempt < 400 && answered < 10; attempt++) {
      try {
        await ask(pool.address);
        answered++;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    }
    assert.equal(answered, 10, lines.join(""));
    assert.equal(workers.size, 4);
    const count = {
      stem: "d|k=v|day:",
      windowStart: dayStart(),
      windowSize: 86_400,
      hits: 0,
      limit: 1000,
      refuses: Refuses.ALWAYS,
      outcome: 0 as const,
      after: 0,
    };
    embedded.count({ counts: [count], holdBack: HoldBack.NEVER, now: Date.now(), deadline: 0 });
    assert.equal(count.after, 30);
    await pool.collect();
    assert.equal(registry.rule({ domain: "d", levels: ["k"] }, false).totalHits, 30);
    assert.ok(lines.some((line) => line.includes("ended unexpectedly")));
  } finally {
    await pool.close(1000);
    await embedded.close();
  }
});

test("an error in a message handler does not end the thread", { timeout: scaled(60_000) }, async () => {
  const lines: string[] = [];
  const log = createLogger({
    writer: { dropped: 0, write: (line) => void lines.push(line), flush: async () => {} },
  });
  const embedded = EmbeddedStore.create({ sizeInBytes: 1024 * 1024 });
  const statistics = new MergedStatistics(createStatistics());
  const health = createHealth(log);
  const { ruleSet } = loadRules([{ name: "d.yaml", text: rules }], { mergeDomains: false });
  const pool = await ThreadPool.open({
    threads: 2,
    host: "127.0.0.1",
    port: 0,
    environment: { BACKEND_TYPE: "embedded", DISABLE_STATS: "true" },
    embedded,
    rules: ruleSet!.compiled,
    certificates: undefined,
    health,
    components: new Components(health),
    statistics,
    decisions: new DecisionLog({ writer: undefined, log, onDemand: () => {} }),
    log,
    invalidations: undefined,
    replicas: undefined,
    overrides: [],
  });
  try {
    // The listeners have no TLS, so replaceCertificates throws in every thread.
    pool.replaceCertificates({ cert: "", key: "", ca: undefined });
    await pool.collect();
    for (let call = 0; call < 4; call++) await ask(pool.address);
    assert.deepEqual(lines, []);
  } finally {
    await pool.close(1000);
    await embedded.close();
  }
});

function dayStart(): number {
  const seconds = Math.floor(Date.now() / 1000);
  return seconds - (seconds % 86_400);
}
