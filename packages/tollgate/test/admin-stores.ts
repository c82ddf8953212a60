/** The stores behind the tests of the admin API, with the settings that choose them. */
import { after } from "node:test";
import { RedisCluster } from "./servers/cluster.ts";
import { MemcachedServer } from "./servers/memcached.ts";
import { RedisServer } from "./servers/redis.ts";
import { SentinelGroup } from "./servers/sentinel.ts";

export interface StoreUnderTest {
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<unknown>;
}

interface ReusableStore extends StoreUnderTest {
  empty(): Promise<unknown>;
}

const reused: Promise<ReusableStore>[] = [];
after(async () => {
  for (const store of reused) await (await store).stop();
});

/** Starts servers once for all tests of a file, because that takes two seconds. Each test gets them empty. */
function once(start: () => Promise<ReusableStore>): () => Promise<StoreUnderTest> {
  let started: Promise<ReusableStore> | undefined;
  return async () => {
    if (started === undefined) {
      started = start();
      reused.push(started);
    }
    const { env, empty } = await started;
    await empty();
    return { env, stop: async () => undefined };
  };
}

/** Stores that replicas can share. */
export const sharedStores: Readonly<Record<string, () => Promise<StoreUnderTest>>> = {
  single: async () => {
    const redis = await RedisServer.start();
    return { env: { BACKEND_TYPE: "kvstore", KVSTORE_URL: redis.url }, stop: () => redis.stop() };
  },
  sentinel: once(async () => {
    const group = await SentinelGroup.start();
    const env = { BACKEND_TYPE: "kvstore", KVSTORE_TYPE: "sentinel", KVSTORE_URL: group.url };
    const empty = async () => (await group.master()).command("FLUSHALL");
    return { env, empty, stop: () => group.stop() };
  }),
  cluster: once(async () => {
    const cluster = await RedisCluster.start(3);
    const env = { BACKEND_TYPE: "kvstore", KVSTORE_TYPE: "cluster", KVSTORE_URL: cluster.url };
    const empty = () => Promise.all(cluster.nodes.map((node) => node.command("FLUSHALL")));
    return { env, empty, stop: () => cluster.stop() };
  }),
  "two instances": async () => {
    const servers = [await RedisServer.start(), await RedisServer.start()];
    const env = {
      BACKEND_TYPE: "kvstore",
      KVSTORE_URL: servers[0]!.url,
      KVSTORE_PERSECOND: "true",
      KVSTORE_PERSECOND_URL: servers[1]!.url,
    };
    return { env, stop: () => Promise.all(servers.map((server) => server.stop())) };
  },
};

export const embedded = async (): Promise<StoreUnderTest> => ({
  env: { BACKEND_TYPE: "embedded" },
  stop: async () => undefined,
});

export const memcached = async (): Promise<StoreUnderTest> => {
  const server = await MemcachedServer.start();
  return {
    env: { BACKEND_TYPE: "objcache", OBJCACHE_HOST_PORT: `127.0.0.1:${server.port}` },
    stop: () => server.stop(),
  };
};
