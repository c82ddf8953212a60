/**
 * The calls of a gateway for language models to the running service: two replicas on one store, or one process with two
 * threads. All calls go through both replicas in turn.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { scaled } from "../../../tools/time-scale.ts";
import { until } from "./counters/kvstore-support.ts";
import {
  grpcReservations,
  httpReservations,
  type ReservationCaller,
  type Reserved,
} from "./reservation-caller.ts";
import { RedisCluster } from "./servers/cluster.ts";
import { MemcachedServer } from "./servers/memcached.ts";
import { RedisServer } from "./servers/redis.ts";
import { SentinelGroup } from "./servers/sentinel.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

/** Seconds of the short window. The test repeats a try that took longer. */
const SHORT = 4;

const rules = `
domain: llm
descriptors:
  - key: tokens
    rate_limit: { unit: day, requests_per_unit: 100 }
  - key: bucket
    rate_limit: { unit: day, requests_per_unit: 100, algorithm: token_bucket }
  - key: list
    rate_limits:
      - { unit: day, requests_per_unit: 100 }
      - { unit: year, requests_per_unit: 100, algorithm: sliding_window }
  - key: short
    rate_limit: { unit: second, unit_multiplier: ${SHORT}, requests_per_unit: 100 }
  - key: gone
    rate_limit: { unit: day, requests_per_unit: 100 }
  - key: wide
    rate_limit: { unit: day, requests_per_unit: 9007199254740991 }
`;

interface Backend {
  readonly replicas: number;
  readonly env: Readonly<Record<string, string>>;
  /** The Redis servers that count. */
  readonly nodes?: readonly RedisServer[];
  readonly group?: SentinelGroup;
  stop(): Promise<unknown>;
}

const backends: Record<string, () => Promise<Backend>> = {
  embedded: async () => ({ replicas: 1, env: { WORKERS: "2" }, stop: async () => {} }),
  "Redis single": async () => {
    const redis = await RedisServer.start();
    return { replicas: 2, env: { KVSTORE_URL: redis.url }, nodes: [redis], stop: () => redis.stop() };
  },
  "Redis with sentinels": async () => {
    const group = await SentinelGroup.start({ sentinels: 1 });
    // The tests order the failover: a master that only hangs stays the master.
    await group.sentinels[0]!.command("SENTINEL", "SET", "counters", "down-after-milliseconds", 3_600_000);
    return {
      replicas: 2,
      nodes: [group.servers[0]!],
      group,
      env: { KVSTORE_TYPE: "sentinel", KVSTORE_URL: group.url },
      stop: () => group.stop(),
    };
  },
  "Redis cluster": async () => {
    const cluster = await RedisCluster.start(3, 0, { config: ["cluster-require-full-coverage no"] });
    return {
      replicas: 2,
      nodes: cluster.nodes,
      env: { KVSTORE_TYPE: "cluster", KVSTORE_URL: cluster.url },
      stop: () => cluster.stop(),
    };
  },
};

function start(env: Readonly<Record<string, string>>): Promise<RunningTollgate> {
  const backend = "KVSTORE_URL" in env ? "kvstore" : "embedded";
  return startTollgate({ config: { "llm.yaml": rules }, env: { BACKEND_TYPE: backend, ...env } });
}

/** A statistic of the rule `gone`, over all replicas. */
async function sumOf(replicas: readonly RunningTollgate[], statistic: string): Promise<number> {
  const pages = replicas.map(async ({ debug }) =>
    (await fetch(`http://${debug}/stats?filter=llm\\.gone\\.${statistic}`)).text(),
  );
  const values = (await Promise.all(pages)).map((page) => Number(/: (-?\d+)\n/.exec(page)?.[1] ?? 0));
  return values.reduce((sum, value) => sum + value, 0);
}

/** The rest of a limit. */
async function left(caller: ReservationCaller, target: string): Promise<number> {
  return Number((await caller.check(target)).split(" ")[1]);
}

for (const [name, open] of Object.entries(backends))
  describe(`two replicas: ${name}`, () => {
    test("the flows of a gateway", async (t) => {
      const backend = await open();
      t.after(() => backend.stop());
      const replicas = await Promise.all(Array.from({ length: backend.replicas }, () => start(backend.env)));
      t.after(() => Promise.all(replicas.map((replica) => replica.stop())));
      const a = grpcReservations(replicas[0]!.grpc);
      const b = grpcReservations(replicas.at(-1)!.grpc);
      const web = httpReservations(replicas.at(-1)!.http);
      t.after(() => {
        for (const caller of [a, b]) caller.close();
      });
      const keys = ["tokens", "bucket", "list"];

      await t.test("check, charge, check", async () => {
        for (const key of keys) {
          assert.equal(await a.check(`${key}=cost`), "OK 100");
          assert.equal(await b.report(`${key}=cost`, 60), "OK 40");
          assert.equal(await a.check(`${key}=cost`), "OK 40");
          assert.equal(await b.report(`${key}=cost`, 60), "OK 0");
          assert.equal(await a.check(`${key}=cost`), "OVER_LIMIT 0");
          assert.equal(await web.check(`${key}=cost`), "OVER_LIMIT 0");
        }
      });

      await t.test("a hundred concurrent requests against a small limit, with both ways", async () => {
        const cost = 10;
        for (const key of keys) {
          const callers = Array.from({ length: 100 }, (_, index) => [a, b, web][index % 3]!);
          // All check before the first one is charged, as requests that run at the same time do.
          const checks = await Promise.all(callers.map((caller) => caller.check(`${key}=checked`, cost)));
          const passed = callers.filter((_, index) => checks[index]!.startsWith("OK"));
          await Promise.all(passed.map((caller) => caller.report(`${key}=checked`, cost)));
          const reserved = await Promise.all(callers.map((caller) => caller.reserve(`${key}=held`, cost)));
          const held = reserved
            .map(({ code, id }, index) => ({ caller: callers[(index + 1) % 100]!, code, id }))
            .filter(({ code }) => code === "OK");
          await Promise.all(held.map(({ caller, id }) => caller.commit(`${key}=held`, id, cost)));
          assert.equal(
            passed.length * cost - 100,
            900,
            "check, then charge: over the limit by nine times as much",
          );
          assert.equal(held.length * cost - 100, 0, "reserve, then commit: not over the limit");
          assert.equal(await left(a, `${key}=held`), 0);
          t.diagnostic(
            `${key}: checked ${passed.length * cost} of 100, reserved ${held.length * cost} of 100`,
          );
        }
      });

      await t.test("a commit smaller than its hold, equal to it, and larger", async () => {
        for (const key of keys)
          for (const [actual, remains] of [
            [5, 95],
            [20, 80],
            [70, 30],
          ] as const) {
            const target = `${key}=cost${actual}`;
            const { id, reserved } = await a.reserve(target, 20);
            assert.equal(reserved, 20);
            assert.equal(await left(b, target), 80);
            assert.equal(await b.commit(target, id, actual), true);
            assert.equal(await left(a, target), remains);
          }
      });

      await t.test("a late commit counts, and one of several commits releases a hold", async () => {
        for (const key of keys) {
          const target = `${key}=late`;
          const { id } = await a.reserve(target, 20, 50);
          while ((await left(b, target)) !== 100) await sleep(5);
          assert.equal(await b.commit(target, id, 30), false);
          assert.equal(await left(a, target), 70);
          for (const caller of [a, b, web]) assert.equal(await caller.commit(target, id, 30), false);
          const twice = await web.reserve(target, 20);
          const commits = await Promise.all([a, b, web].map((caller) => caller.commit(target, twice.id, 10)));
          assert.equal(commits.filter((released) => released).length, 1);
          assert.equal(await left(a, target), 60);
        }
      });

      await t.test("holds that nobody commits leave the gauge without another call", async () => {
        for (const [index, caller] of [a, b, web].entries()) {
          await caller.reserve("gone=open", 5, 60_000);
          await caller.reserve("gone=shared", 3, 30);
          await caller.reserve(`gone=own${index}`, 10, 30);
        }
        await until(
          "the holds with a short time to live are counted as expired",
          async () => (await sumOf(replicas, "expired")) === 39,
        );
        assert.equal(await sumOf(replicas, "held"), 15);
      });

      await t.test("a hold at the end of one window, and its commit in the next one", async () => {
        const window = () => Math.floor(Date.now() / 1000 / SHORT);
        for (let tries = 0; ; tries++) {
          const target = `short=${tries}`;
          const before = window();
          const { id } = await a.reserve(target, 25);
          const first = await left(b, target);
          if (window() !== before) continue;
          assert.equal(first, 75);
          while (window() === before) await sleep(10);
          const fresh = await left(b, target);
          const released = await b.commit(target, id, 40);
          const after = await left(a, target);
          // A slow machine may reach yet another window.
          if (window() !== before + 1) continue;
          assert.deepEqual([fresh, released, after], [100, true, 60]);
          assert.equal(await a.commit(target, id, 40), false);
          break;
        }
      });

      await t.test("a first reservation above the limit, and amounts beyond 2^32", async () => {
        for (const key of keys) {
          assert.equal((await a.reserve(`${key}=first`, 1_000_000)).reserved, 25);
          assert.equal(await b.report(`${key}=deep`, 2 ** 33), "OK 0");
          assert.equal(await a.check(`${key}=deep`), "OVER_LIMIT 0");
        }
        const { id, reserved } = await a.reserve("wide=a", 2 ** 40);
        assert.equal(reserved, 2 ** 40);
        assert.equal(await b.commit("wide=a", id, 2 ** 50), true);
        assert.equal(await web.commit("wide=a", "", 2 ** 53 - 1 - 2 ** 50), false);
        assert.equal(await a.check("wide=a"), "OVER_LIMIT 0");
      });

      await t.test("several descriptors are held all or nothing", async () => {
        const all = ["tokens=all", "bucket=all", "list=all"];
        const { id } = await a.reserve(all, 25);
        await b.report("bucket=all", 60);
        assert.equal((await b.reserve(all, 25)).code, "OVER_LIMIT");
        assert.deepEqual(await Promise.all(all.map((target) => left(a, target))), [75, 15, 75]);
        assert.equal(await b.commit(all, id, 10), true);
        assert.deepEqual(await Promise.all(all.map((target) => left(a, target))), [90, 30, 90]);
      });

      const { nodes, group } = backend;
      if (nodes === undefined) return;
      await t.test("the server of the counter goes away between Reserve and Commit", async (t) => {
        const services = await Promise.all(
          modes.map((mode) =>
            start({ ...backend.env, KVSTORE_TIMEOUT: `${scaled(300)}ms`, KVSTORE_FAILURE_MODE: mode }),
          ),
        );
        t.after(() => Promise.all(services.map((service) => service.stop())));
        const settled: Settled[] = [];
        for (const [index, { grpc, http }] of services.entries()) {
          const mode = modes[index]!;
          const caller = grpcReservations(grpc);
          t.after(() => caller.close());
          settled.push({
            mode,
            caller,
            web: httpReservations(http),
            held: await heldAt(caller, nodes, mode),
          });
        }
        await nodes[0]!.pause();
        try {
          await Promise.all(settled.map(callsFail));
        } finally {
          nodes[0]!.resume();
        }
        await Promise.all(settled.map(commitsOnce));
      });

      if (group !== undefined)
        await t.test("a replica of Redis takes over between Reserve and Commit", async () => {
          const { id } = await a.reserve("tokens=moved", 20);
          const [master, replica] = group.servers as [RedisServer, RedisServer];
          await until("the hold has reached the replica", () => hasHolds(replica, "moved"));
          await master.pause();
          try {
            await group.failover();
            assert.equal(await committed(b, "tokens=moved", id), true);
            while ((await left(a, "tokens=moved").catch(() => -1)) !== 93) await sleep(20);
            assert.equal(await a.commit("tokens=moved", id, 7), false);
            assert.equal(await left(b, "tokens=moved"), 93);
          } finally {
            master.resume();
          }
        });

      await t.test("a replica is killed between Reserve and Commit", async () => {
        const { id } = await reservedIn(a, "tokens=killed");
        await replicas[0]!.stop("SIGKILL");
        assert.equal(await left(b, "tokens=killed"), 80);
        assert.equal(await b.commit("tokens=killed", id, 7), true);
        assert.equal(await left(b, "tokens=killed"), 93);
      });
    });
  });

const modes = ["error", "allow", "local", "deny"] as const;

/** Reserves as soon as the service is connected to its store: in most failure modes it opens its ports before. */
async function reservedIn(caller: ReservationCaller, target: string): Promise<Reserved> {
  for (;;) {
    const reserved = await caller.reserve(target, 20).catch(() => undefined);
    if (reserved !== undefined && reserved.id !== "") return reserved;
    await sleep(10);
  }
}

function hasHolds(node: RedisServer, value: string): Promise<boolean> {
  return node.command("KEYS", `*=${value}|*:holds`).then((keys) => (keys as string[]).length > 0);
}

/** Two counters with a reservation on the first node, and one on another node, if there is one. */
interface HeldAt {
  readonly a: Reserved & { readonly target: string };
  readonly b: string;
  readonly other: string | undefined;
}

async function heldAt(
  caller: ReservationCaller,
  nodes: readonly RedisServer[],
  mode: string,
): Promise<HeldAt> {
  const here: HeldAt["a"][] = [];
  let other: string | undefined;
  for (let index = 0; here.length < 2 || (other === undefined && nodes.length > 1); index++) {
    const target = `tokens=${mode}${index}`;
    const reserved = await reservedIn(caller, target);
    if (await hasHolds(nodes[0]!, `${mode}${index}`)) here.push({ ...reserved, target });
    else other = target;
  }
  return { a: here[0]!, b: here[1]!.target, other };
}

interface Settled {
  readonly mode: (typeof modes)[number];
  readonly caller: ReservationCaller;
  readonly web: ReturnType<typeof httpReservations>;
  readonly held: HeldAt;
}

/** The calls while the server of the counters hangs. */
async function callsFail({ mode, caller, web, held: { a, b, other } }: Settled): Promise<void> {
  await assert.rejects(caller.commit(a.target, a.id, 7), { code: 14 });
  await assert.rejects(web.commit(a.target, a.id, 7), { status: 503 });
  if (mode === "error") {
    await assert.rejects(caller.reserve(b, 5), { code: 14 });
    await assert.rejects(caller.check(b), { code: 14 });
  } else if (mode === "deny") {
    assert.equal((await caller.reserve(b, 5)).code, "OVER_LIMIT");
    await assert.rejects(caller.report(b, 5), { code: 14 });
  } else {
    assert.deepEqual(await caller.reserve(b, 5), { code: "OK", id: "", reserved: 0 });
    assert.match(await caller.report(b, 5), /^OK/);
    assert.match(await caller.check(b), mode === "local" ? /^OK 95/ : /^OK/);
  }
  // The other nodes of a cluster go on. The breaker lets a call through from time to time.
  if (other !== undefined) await reservedIn(caller, other);
}

/** Repeats a commit until it gets an answer. */
async function committed(caller: ReservationCaller, target: string, id: string): Promise<boolean> {
  for (;;) {
    const released = await caller.commit(target, id, 7).catch(() => sleep(20, undefined));
    if (released !== undefined) return released;
  }
}

async function commitsOnce({ caller, held: { a } }: Settled): Promise<void> {
  // Earlier commits may have reached the server after their callers had given up: this one then counts nothing.
  await committed(caller, a.target, a.id);
  while ((await left(caller, a.target).catch(() => -1)) !== 93) await sleep(20);
  assert.equal(await caller.commit(a.target, a.id, 7), false);
  assert.equal(await left(caller, a.target), 93);
}

test("embedded: a crash between Reserve and Commit loses the holds that are not in the snapshot", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-flows-"));
  t.after(() => rm(folder, { recursive: true }));
  const snapshot = { EMBEDDED_STORE_SNAPSHOT: join(folder, "counters") };
  const ids: Record<string, string> = {};
  const running = async (
    env: Readonly<Record<string, string>>,
    signal: NodeJS.Signals,
    body: (caller: ReservationCaller) => Promise<void>,
  ) => {
    const service = await start(env);
    const caller = grpcReservations(service.grpc);
    try {
      await body(caller);
    } finally {
      caller.close();
      await service.stop(signal);
    }
  };
  const reserve = async (caller: ReservationCaller, name: string) => {
    ids[name] = (await caller.reserve(`tokens=${name}`, 20)).id;
  };
  /** @param before what is left before the commit of 7 hits */
  const finds = async (caller: ReservationCaller, name: string, before: number, released: boolean) => {
    const target = `tokens=${name}`;
    assert.equal(await left(caller, target), before);
    assert.equal(await caller.commit(target, ids[name]!, 7), released);
    assert.equal(await left(caller, target), 93);
  };
  await running(snapshot, "SIGTERM", (caller) => reserve(caller, "kept"));
  await running(snapshot, "SIGKILL", async (caller) => {
    await reserve(caller, "lost");
    await finds(caller, "kept", 80, true);
  });
  // The last graceful stop is what the next process finds: the commit of before the crash is gone, too.
  await running(snapshot, "SIGKILL", async (caller) => {
    await finds(caller, "kept", 80, true);
    await finds(caller, "lost", 100, false);
  });
  await running({}, "SIGKILL", (caller) => finds(caller, "kept", 100, false));
});

test("Redis loses a reservation: its commit counts once, the limit is free, and the hits stay in the gauge", async (t) => {
  await using redis = await RedisServer.start();
  const service = await start({ KVSTORE_URL: redis.url });
  t.after(() => service.stop());
  const caller = grpcReservations(service.grpc);
  t.after(() => caller.close());
  const lost = await caller.reserve("gone=lost", 20);
  assert.equal(await left(caller, "gone=lost"), 80);
  await redis.command("FLUSHALL");
  assert.equal(await left(caller, "gone=lost"), 100);
  for (let time = 0; time < 2; time++) {
    assert.equal(await caller.commit("gone=lost", lost.id, 7), false);
    assert.equal(await left(caller, "gone=lost"), 93);
  }
  const kept = await caller.reserve("gone=lost", 10);
  assert.equal(await caller.commit("gone=lost", kept.id, 10), true);
  assert.equal(await left(caller, "gone=lost"), 83);
  const statistics = ["reserved", "released", "expired", "committed", "held"];
  const figures = await Promise.all(statistics.map((one) => sumOf([service], one)));
  assert.deepEqual(figures, [30, 10, 0, 17, 20]);
});

test("memcached keeps no reservations, and says so", async (t) => {
  const memcached = await MemcachedServer.start();
  t.after(() => memcached.stop());
  const service = await startTollgate({
    config: {
      "llm.yaml":
        "domain: llm\ndescriptors: [{ key: tokens, rate_limit: { unit: day, requests_per_unit: 100 } }]",
    },
    env: { BACKEND_TYPE: "memcache", OBJCACHE_HOST_PORT: `127.0.0.1:${memcached.port}` },
  });
  t.after(() => service.stop());
  const caller = grpcReservations(service.grpc);
  const web = httpReservations(service.http);
  t.after(() => caller.close());
  const details = /keeps no reservations: use the embedded store or the key-value store/;
  for (const call of [
    () => caller.reserve("tokens=a", 5),
    () => caller.commit("tokens=a", "x", 5),
    () => caller.check("tokens=a"),
    () => caller.report("tokens=a"),
  ])
    await assert.rejects(call(), { code: 12, details });
  await assert.rejects(web.reserve("tokens=a", 5), { status: 501, message: details });
});
