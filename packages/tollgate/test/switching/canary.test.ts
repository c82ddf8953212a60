/**
 * A canary with `CACHE_KEY_FORMAT=compatible`: replicas of both services share the counters of one store. With
 * `PEER_GO_SERVICE`, the path of the Go service's binary, real replicas of both services alternate.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../counters/kvstore-support.ts";
import { descriptor, GrpcCaller, request } from "../grpc-caller.ts";
import { RedisServer } from "../servers/redis.ts";
import { startTollgate } from "../tollgate.ts";
import { goBinary, startGoService } from "./go-service.ts";
import { recordedKeys, rules } from "./recorded-keys.ts";
import { storeKinds } from "./stores.ts";

const year = 31_536_000;
const limited = `domain: d
descriptors:
  - { key: year, rate_limit: { unit: year, requests_per_unit: 20 } }
  - { key: second, rate_limit: { unit: second, requests_per_unit: 1000000 } }
`;

test("a replica that writes the Go service's commands and a new replica together admit the limit once", async (t) => {
  const redis = await RedisServer.start();
  t.after(() => redis.stop());
  const tollgate = await startTollgate({
    config: { "d.yaml": limited },
    env: { BACKEND_TYPE: "", REDIS_URL: redis.url, CACHE_KEY_FORMAT: "compatible" },
  });
  t.after(() => tollgate.stop());
  const caller = new GrpcCaller(tollgate.grpc);
  t.after(() => caller.close());
  const now = Math.floor(Date.now() / 1000);
  const key = `d_year_v_${now - (now % year)}`;
  let admitted = 0;
  for (let call = 0; call < 30; call++) {
    if (call % 2 === 0) {
      const after = Number(await redis.command("INCRBY", key, 1));
      await redis.command("EXPIRE", key, year + call);
      if (after <= 20) admitted++;
    } else {
      const { statuses } = await caller.ask(request("d", descriptor("year=v")));
      if (statuses[0]!.code === 1) admitted++;
      assert.equal(statuses[0]!.limitRemaining, Math.max(0, 20 - call - 1));
    }
  }
  assert.equal(admitted, 20);
  assert.equal(Number(await redis.command("GET", key)), 30, "a rollback continues with the same counter");
});

if (goBinary !== undefined)
  for (const [kind, open] of Object.entries(storeKinds))
    test(`${kind}: the Go service and Tollgate share every counter`, async (t) => {
      const store = await open();
      t.after(() => store.stop());
      const go = await startGoService(goBinary!, rules, store.env);
      t.after(() => go.stop());
      const tollgate = await startTollgate({
        config: { "d.yaml": rules },
        env: { BACKEND_TYPE: "", ...store.env, CACHE_KEY_FORMAT: "compatible" },
      });
      t.after(() => tollgate.stop());
      const callers = [new GrpcCaller(go.grpc), new GrpcCaller(tollgate.grpc)] as const;
      t.after(() => {
        for (const caller of callers) caller.close();
      });
      const isMemcached = kind === "memcached";
      // The windows of a second and a minute may end during the test.
      const rows = recordedKeys.filter(
        ({ redisOnly, unit }) => unit > 2 && (!isMemcached || (!redisOnly && unit !== 5 && unit !== 6)),
      );
      const counters = new Map<string, number>();
      for (let round = 0; round < 6; round++)
        for (const { name, descriptor: one, key } of rows) {
          const caller = callers[round % 2]!;
          const count = (counters.get(key) ?? 0) + 1;
          counters.set(key, count);
          const { statuses } = await caller.ask(request("d", one));
          const limit = one.limit?.requestsPerUnit ?? 100;
          assert.equal(statuses[0]!.limitRemaining, limit - count, `${name}, round ${round}`);
          if (!isMemcached) continue;
          // Both services count in memcached after they have answered.
          const look = { ...one, hitsAddend: 0 };
          const other = callers[1 - (round % 2)]!;
          await until(`${name} is counted`, async () => {
            const { statuses: seen } = await other.ask(request("d", look));
            return seen[0]!.limitRemaining === limit - count;
          });
        }
      const keys = (await store.keys()).flat();
      assert.deepEqual(
        new Set(keys.map((key) => key.replace(/\d+$/, ""))),
        new Set(rows.map(({ key }) => key.replace(/\d+$/, ""))),
      );
    });
