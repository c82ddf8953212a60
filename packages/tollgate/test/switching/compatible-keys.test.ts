/** `CACHE_KEY_FORMAT=compatible`: the keys, places and expiries of the Go service, in every kind of store. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createKeyFormat } from "../../src/decision/key-format.ts";
import { windowStart } from "../../src/decision/window.ts";
import { windowSeconds } from "../../src/protocol/units.ts";
import { loadRules } from "../../src/rules/load-rules.ts";
import { overrideMatch } from "../../src/rules/override.ts";
import { until } from "../counters/kvstore-support.ts";
import { GrpcCaller, request } from "../grpc-caller.ts";
import { startTollgate } from "../tollgate.ts";
import { recordedAt, recordedKeys, rules } from "./recorded-keys.ts";
import { storeKinds } from "./stores.ts";

const { ruleSet } = loadRules([{ name: "d.yaml", text: rules }], { mergeDomains: false });

describe("the keys agree with those of the Go service", () => {
  for (const { name, descriptor, unit, key } of recordedKeys)
    for (const prefix of ["", "p:"])
      test(`${name}, prefix "${prefix}"`, () => {
        const { entries, limit } = descriptor;
        const match = limit === undefined ? ruleSet!.match("d", entries) : overrideMatch("d", entries, limit);
        const keyFormat = createKeyFormat({ format: "compatible", prefix, backend: "kvstore" });
        const stem = keyFormat("d", entries, match!, unit);
        assert.equal(stem + windowStart(recordedAt, unit), prefix + key);
      });
});

/** The key without its window start, which has advanced since the recording. */
const stemOf = (key: string) => key.replace(/\d+$/, "");

for (const [kind, open] of Object.entries(storeKinds))
  test(`${kind}: the store has the recorded keys, with their expiries`, async (t) => {
    const store = await open();
    t.after(() => store.stop());
    const tollgate = await startTollgate({
      config: { "d.yaml": rules },
      env: { BACKEND_TYPE: "", ...store.env, CACHE_KEY_FORMAT: "compatible" },
    });
    t.after(() => tollgate.stop());
    const caller = new GrpcCaller(tollgate.grpc);
    t.after(() => caller.close());
    const rows = recordedKeys.filter(({ redisOnly }) => kind !== "memcached" || !redisOnly);
    for (const { descriptor } of rows) await caller.ask(request("d", descriptor));
    const expected = new Set(rows.map(({ key }) => stemOf(key)));
    const all = async () => (await store.keys()).flat();
    await until("all keys are listed", async () => (await all()).length >= expected.size);
    const keys = await all();
    assert.deepEqual(new Set(keys.map(stemOf)), expected);
    const now = Math.floor(Date.now() / 1000);
    for (const { key, unit } of rows) {
      const size = windowSeconds[unit]!;
      const found = keys.filter((one) => stemOf(one) === stemOf(key));
      const starts = found.map((one) => Number(/\d+$/.exec(one)![0]));
      const isCurrent = (start: number) => start % size === 0 && start <= now && start > now - size - 60;
      assert.ok(starts.some(isCurrent), `${key}: ${found}`);
    }
    const life = await store.timeToLive(keys.find((key) => key.startsWith("d_day_"))!);
    assert.ok(life !== undefined && life > 86_400 - 60 && life <= 86_400 + 300, `${life}`);
    if (kind !== "two instances") return;
    const [main, second] = await store.keys();
    assert.deepEqual(second!.map(stemOf), ["d_second_v_"]);
    assert.equal(main!.length, keys.length - 1);
  });

test("every count extends the life of its key, so that a colliding key outlives its shorter window", async (t) => {
  const store = await storeKinds.single();
  t.after(() => store.stop());
  const tollgate = await startTollgate({
    config: { "d.yaml": rules },
    env: {
      BACKEND_TYPE: "",
      ...store.env,
      CACHE_KEY_FORMAT: "compatible",
      EXPIRATION_JITTER_MAX_SECONDS: "0",
    },
  });
  t.after(() => tollgate.stop());
  const caller = new GrpcCaller(tollgate.grpc);
  t.after(() => caller.close());
  const row = recordedKeys.find(({ name }) => name === "day")!;
  for (let call = 0; call < 2; call++) {
    await caller.ask(request("d", row.descriptor));
    const [key] = (await store.keys()).flat();
    const left = await store.timeToLive(key!);
    assert.ok(left !== undefined && left > 86_400 - 60, `call ${call}: ${left}`);
    await store.expire(key!, 100);
  }
});
