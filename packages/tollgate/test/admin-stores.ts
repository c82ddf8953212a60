/** The stores behind the tests of the admin API, with the settings that choose them. */
import { RedisCluster } from "./servers/cluster.ts";
import { MemcachedServer } from "./servers/memcached.ts";
import { RedisServer } from "./servers/redis.ts";
import { SentinelGroup } from "./servers/sentinel.ts";

export interface StoreUnderTest {
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<unknown>;
}

/** Stores that replicas can share. */
export const sharedStores: Readonly<Record<string, () => Promise<StoreUnderTest>>> = {
  single: async () => {
    const redis = await RedisServer.start();
    return { env: { BACKEND_TYPE: "kvstore", KVSTORE_URL: redis.url }, stop: () => redis.stop() };
  },
  sentinel: async () => {
    const group = await SentinelGroup.start();
    const env = { BACKEND_TYPE: "kvstore", KVSTORE_TYPE: "sentinel", KVSTORE_URL: group.url };
    return { env, stop: () => group.stop() };
  },
  cluster: async () => {
    const cluster = await RedisCluster.start(3);
    const env = { BACKEND_TYPE: "kvstore", KVSTORE_TYPE: "cluster", KVSTORE_URL: cluster.url };
    return { env, stop: () => cluster.stop() };
  },
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
