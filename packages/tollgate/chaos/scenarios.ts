import { setTimeout as sleep } from "node:timers/promises";
import { scaled } from "../../../tools/time-scale.ts";
import { FailurePolicy } from "../src/counters/failure-policy.ts";
import { slotOf } from "../src/counters/kvstore/slots.ts";
import type { CounterStore } from "../src/counters/store.ts";
import { makeKvstore, makeObjcache, type TestKvstore } from "../test/counters/kvstore-support.ts";
import { RedisCluster } from "../test/servers/cluster.ts";
import { MemcachedServer } from "../test/servers/memcached.ts";
import { FaultyProxy } from "../test/servers/proxy.ts";
import { RedisServer } from "../test/servers/redis.ts";
import { SentinelGroup } from "../test/servers/sentinel.ts";
import type { Scenario, System } from "./scenario.ts";

/** Below the callers' deadline, so that the store detects a hanging server before the deadline. */
const TIMEOUT_MS = scaled(250);

function redisStores(options: TestKvstore): readonly CounterStore[] {
  return [1, 2].map(
    () =>
      new FailurePolicy(
        makeKvstore({ poolSize: 4, timeout: TIMEOUT_MS, onEmptyWait: scaled(100), ...options }),
      ),
  );
}

function cacheStores(nodes: readonly string[]): readonly CounterStore[] {
  return [1, 2].map(() => new FailurePolicy(makeObjcache({ nodes, timeout: TIMEOUT_MS })));
}

type Action<S> = (server: S, proxy: FaultyProxy) => Promise<void> | void;

/** A Redis behind a proxy. Faults can affect either of them. */
function redis(
  fault: string,
  injectFault: Action<RedisServer>,
  recover: Action<RedisServer>,
  more: Partial<Scenario> = {},
): Scenario {
  return {
    store: "kvstore single",
    fault,
    ...more,
    open: () => behindProxy(RedisServer, injectFault, recover),
  };
}

function memcached(
  fault: string,
  injectFault: Action<MemcachedServer>,
  recover: Action<MemcachedServer>,
  more: Partial<Scenario> = {},
): Scenario {
  return {
    store: "objcache",
    fault,
    // The other process may have calls in progress for a key, between a read and an increment.
    overlap: 24,
    algorithms: ["fixed_window", "accepted_window"],
    ...more,
    open: () => behindProxy(MemcachedServer, injectFault, recover),
  };
}

async function behindProxy<S extends RedisServer | MemcachedServer>(
  kind: { start(): Promise<S> },
  injectFault: Action<S>,
  recover: Action<S>,
): Promise<System> {
  const server = await kind.start();
  const proxy = await FaultyProxy.start(server.port);
  const stores = server instanceof RedisServer ? redisStores({ url: proxy.url }) : cacheStores([proxy.url]);
  return {
    stores,
    injectFault: () => injectFault(server, proxy),
    recover: () => recover(server, proxy),
    async stop() {
      await server.stop();
      await proxy.stop();
    },
  };
}

/** Closes all connections after a few more bytes, repeatedly. */
async function cutReplies(proxy: FaultyProxy): Promise<void> {
  for (let i = 1; i <= 12; i++) {
    proxy.cutAfter = i;
    await sleep(20);
  }
  proxy.cutAfter = Number.POSITIVE_INFINITY;
}

const nothing = () => {};

const single: readonly Scenario[] = [
  redis(
    "stopped (SIGSTOP)",
    (server) => server.pause(),
    (server) => server.resume(),
  ),
  redis(
    "killed, returns empty",
    (server) => server.stop(),
    (server) => server.restart(),
    { forgets: "before the recovery" },
  ),
  redis("restarted empty at once", (server) => server.restart(), nothing, { forgets: "before the fault" }),
  redis(
    "slow, 30 ms",
    (_, proxy) => {
      proxy.delay = 30;
    },
    (_, proxy) => {
      proxy.delay = 0;
    },
    { unnoticed: true },
  ),
  redis(
    "slower than its timeout",
    (_, proxy) => {
      proxy.delay = 2 * TIMEOUT_MS;
    },
    (_, proxy) => {
      proxy.delay = 0;
    },
  ),
  redis("cut in the middle of replies", (_, proxy) => cutReplies(proxy), nothing),
  redis("all connections reset", (_, proxy) => proxy.cut(), nothing),
  redis(
    "out of memory",
    async (server) => void (await server.command("CONFIG", "SET", "maxmemory", 1)),
    async (server) => void (await server.command("CONFIG", "SET", "maxmemory", 0)),
  ),
  redis(
    "read-only",
    async (server) => void (await server.command("REPLICAOF", "127.0.0.1", 1)),
    async (server) => void (await server.command("REPLICAOF", "NO", "ONE")),
  ),
];

const cache: readonly Scenario[] = [
  memcached(
    "stopped (SIGSTOP)",
    (server) => server.pause(),
    (server) => server.resume(),
    { forgets: "during the fault" },
  ),
  memcached(
    "killed, returns empty",
    (server) => server.stop(),
    (server) => server.restart(),
    { forgets: "before the recovery" },
  ),
  memcached("cut in the middle of replies", (_, proxy) => cutReplies(proxy), nothing, {
    forgets: "during the fault",
  }),
];

function sentinel(fault: string, injectFault: (group: SentinelGroup) => Promise<void>): Scenario {
  return {
    store: "kvstore sentinel",
    fault,
    // Replication is asynchronous: the new master does not have the last hits.
    forgets: "during the fault",
    async open() {
      const group = await SentinelGroup.start();
      return {
        stores: redisStores({ type: "sentinel", url: group.url }),
        injectFault: () => injectFault(group),
        recover: nothing,
        stop: () => group.stop(),
      };
    },
  };
}

function cluster(
  fault: string,
  replicas: number,
  injectFault: (group: RedisCluster) => Promise<void>,
  more: Partial<Scenario>,
): Scenario {
  return {
    store: "kvstore cluster",
    fault,
    ...more,
    async open() {
      const group = await RedisCluster.start(3, replicas, { config: ["cluster-replica-validity-factor 0"] });
      return {
        stores: redisStores({ type: "cluster", url: group.url }),
        injectFault: () => injectFault(group),
        recover: nothing,
        stop: () => group.stop(),
      };
    },
  };
}

/** Moves every slot with keys from its master to the next one. */
async function moveSlots(group: RedisCluster): Promise<void> {
  const [first, second] = [group.nodes[0]!, group.nodes[1]!];
  const keys = (await first.command("KEYS", "*chaos|*")) as string[];
  for (const slot of new Set(keys.map(slotOf)))
    await group.migrate(slot, first, second, async () => sleep(5));
}

/** Kills a master whose replica has all that was counted before the fault. */
async function killMaster(group: RedisCluster): Promise<void> {
  const master = group.nodes[0]!;
  // WAIT waits for the writes of its own connection, and so for all earlier ones. A third of all keys is this master's.
  for (let number = 0; ; number++)
    try {
      await master.command("SET", `replicated-${number}`, "");
      break;
    } catch (error) {
      if (!String(error).includes("MOVED")) throw error;
    }
  await master.command("WAIT", 1, 0);
  await master.stop();
}

const fleets: readonly Scenario[] = [
  sentinel("manual failover", (group) => group.failover()),
  sentinel("master killed", async (group) => {
    const master = await group.master();
    await master.stop();
    await group.until(async () => (await group.master()) !== master);
  }),
  cluster("slots move", 0, moveSlots, { unnoticed: true }),
  cluster("a master killed, its replica takes over", 1, killMaster, { forgets: "during the fault" }),
];

export const scenarios: readonly Scenario[] = [...single, ...fleets, ...cache];
