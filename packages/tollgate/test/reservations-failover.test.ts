/** Reservations in a cluster whose master dies between Reserve and Commit: a replica with the slots takes over. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isTimeUp, scaled } from "../../../tools/time-scale.ts";
import { until } from "./counters/kvstore-support.ts";
import { grpcReservations, type ReservationCaller } from "./reservation-caller.ts";
import { RedisCluster } from "./servers/cluster.ts";
import type { RedisServer } from "./servers/redis.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const rules = `
domain: llm
descriptors:
  - key: tokens
    rate_limit: { unit: day, requests_per_unit: 100 }
`;

interface Open {
  readonly target: string;
  readonly id: string;
}

function hasHolds(node: RedisServer, target: string): Promise<boolean> {
  return node.command("KEYS", `*|${target}|*:holds`).then((keys) => (keys as string[]).length > 0);
}

async function left(caller: ReservationCaller, target: string): Promise<number> {
  return Number((await caller.check(target)).split(" ")[1]);
}

/** Reserves 20 hits of a counter on a node. */
async function reserveOn(caller: ReservationCaller, node: RedisServer, name: string): Promise<Open> {
  for (let index = 0; ; index++) {
    const target = `tokens=${name}${index}`;
    const { id } = await caller.reserve(target, 20);
    if (await hasHolds(node, target)) return { target, id };
    await caller.commit(target, id, 0);
  }
}

/** Repeats a commit until it gets an answer. @returns the answer */
async function committed(caller: ReservationCaller, { target, id }: Open, actual: number): Promise<boolean> {
  const begun = performance.now();
  for (;;) {
    const released = await caller.commit(target, id, actual).catch(() => sleep(20, undefined));
    if (released !== undefined) return released;
    assert.ok(!isTimeUp(begun, 30_000), "no replica has taken over");
  }
}

/** The sum of a statistic over all replicas. */
async function sumOf(replicas: readonly RunningTollgate[], statistic: string): Promise<number> {
  const values = replicas.map(async ({ debug }) => {
    const page = await (await fetch(`http://${debug}/stats?filter=llm\\.tokens\\.${statistic}`)).text();
    return Number(/: (-?\d+)\n/.exec(page)?.[1] ?? 0);
  });
  return (await Promise.all(values)).reduce((sum, value) => sum + value, 0);
}

test("a replica of a cluster takes over between Reserve and Commit", async (t: TestContext) => {
  const cluster = await RedisCluster.start(3, 1, {
    config: ["cluster-replica-validity-factor 0", "cluster-require-full-coverage no"],
  });
  t.after(() => cluster.stop());
  const env = {
    BACKEND_TYPE: "kvstore",
    KVSTORE_TYPE: "cluster",
    KVSTORE_URL: cluster.url,
    KVSTORE_TIMEOUT: `${scaled(300)}ms`,
  };
  const config = { "llm.yaml": rules };
  const replicas = await Promise.all([0, 1].map(() => startTollgate({ config, env })));
  t.after(() => Promise.all(replicas.map((replica) => replica.stop())));
  const [a, b] = replicas.map(({ grpc }) => grpcReservations(grpc)) as [ReservationCaller, ReservationCaller];
  t.after(() => {
    for (const caller of [a, b]) caller.close();
  });
  const [master, elsewhere, , replica] = cluster.nodes as [
    RedisServer,
    RedisServer,
    RedisServer,
    RedisServer,
  ];

  const kept = await reserveOn(a, master, "kept");
  const unused = await reserveOn(b, master, "unused");
  const other = await reserveOn(a, elsewhere, "other");
  for (const { target } of [kept, unused])
    await until("the hold has reached the replica", () => hasHolds(replica, target));
  // From now on the replica gets nothing from its master.
  await replica.pause();
  await master.command("CLIENT", "KILL", "TYPE", "replica");
  const lost = await reserveOn(a, master, "lost");
  await master.stop();
  replica.resume();

  assert.equal(await committed(b, other, 7), true, "the other masters go on");
  assert.equal(await committed(b, kept, 7), true, "from another replica of Tollgate than the reservation");
  assert.equal(await committed(a, kept, 7), false);
  assert.equal(await left(a, kept.target), 93);
  assert.equal(
    await committed(b, lost, 7),
    false,
    "the replica has not known the hold: the commit is a report",
  );
  assert.equal(await left(b, lost.target), 93);
  assert.equal(await left(b, unused.target), 80, "still held");
  for (let round = 0; round < 3; round++)
    for (const caller of [a, b]) {
      const { id } = await caller.reserve(kept.target, 20);
      assert.equal(await caller.commit(kept.target, id, 1), true, "reservations go on");
    }
  assert.equal(await left(a, kept.target), 87);
  // The holds of `unused` and, since nobody has seen it end, of `lost`.
  assert.equal(await sumOf(replicas, "held"), 40);
  assert.equal(await committed(a, unused, 0), true);
  assert.equal(await left(b, unused.target), 100);
  assert.equal(await sumOf(replicas, "held"), 20);
  for (const replica of replicas) {
    assert.equal((await replica.stop()).code, 0);
    assert.ok(!replica.log.some((line) => line.includes("failed unexpectedly")), replica.log.join("\n"));
  }
});
