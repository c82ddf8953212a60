/** Every kind of remote store, with the environment that both services read. */
import { RedisCluster } from "../servers/cluster.ts";
import { MemcachedServer } from "../servers/memcached.ts";
import { RedisServer } from "../servers/redis.ts";
import { SentinelGroup } from "../servers/sentinel.ts";

export interface SharedStore {
  readonly env: Readonly<Record<string, string>>;
  /** The keys of every server, in order of their servers. */
  keys(): Promise<readonly string[][]>;
  /** Seconds; undefined for a missing key. */
  timeToLive(key: string): Promise<number | undefined>;
  /** Sets the expiry of a key, in seconds. */
  expire(key: string, seconds: number): Promise<unknown>;
  stop(): Promise<unknown>;
}

export const storeKinds = {
  single: async () => {
    const redis = await RedisServer.start();
    return ofRedis([redis], { REDIS_URL: redis.url }, () => redis.stop());
  },
  sentinel: async () => {
    const group = await SentinelGroup.start({ sentinels: 1 });
    const env = { REDIS_TYPE: "sentinel", REDIS_URL: group.url };
    return ofRedis([await group.master()], env, () => group.stop());
  },
  cluster: async () => {
    const cluster = await RedisCluster.start(3);
    const env = { REDIS_TYPE: "cluster", REDIS_URL: cluster.url, REDIS_PIPELINE_WINDOW: "150us" };
    return ofRedis(cluster.nodes, env, () => cluster.stop());
  },
  "two instances": async () => {
    const [main, second] = [await RedisServer.start(), await RedisServer.start()];
    const env = {
      REDIS_URL: main.url,
      REDIS_PERSECOND: "true",
      REDIS_PERSECOND_SOCKET_TYPE: "tcp",
      REDIS_PERSECOND_URL: second.url,
    };
    return ofRedis([main, second], env, () => Promise.all([main.stop(), second.stop()]));
  },
  memcached: async () => {
    const nodes = [await MemcachedServer.start(), await MemcachedServer.start()];
    return {
      env: { BACKEND_TYPE: "memcache", MEMCACHE_HOST_PORT: nodes.map(({ url }) => url).join() },
      keys: () => Promise.all(nodes.map((node) => node.keys())),
      timeToLive: async (key: string) => {
        for (const node of nodes) {
          const left = await node.timeToLive(key);
          if (left !== undefined) return left;
        }
        return undefined;
      },
      expire: (key: string, seconds: number) =>
        Promise.all(nodes.map((node) => node.command(`touch ${key} ${seconds}\r\n`, /\r\n$/))),
      stop: () => Promise.all(nodes.map((node) => node.stop())),
    };
  },
} satisfies Record<string, () => Promise<SharedStore>>;

function ofRedis(
  servers: readonly RedisServer[],
  env: Readonly<Record<string, string>>,
  stop: () => Promise<unknown>,
): SharedStore {
  return {
    env: { REDIS_SOCKET_TYPE: "tcp", ...env },
    keys: () => Promise.all(servers.map(async (server) => (await server.command("KEYS", "*")) as string[])),
    timeToLive: async (key) => {
      for (const server of servers) {
        const left = await server.command("TTL", key).catch(() => -2);
        if (Number(left) !== -2) return Number(left);
      }
      return undefined;
    },
    expire: (key, seconds) =>
      Promise.all(servers.map((server) => server.command("EXPIRE", key, seconds).catch(() => undefined))),
    stop,
  };
}
