/**
 * Every deployment of a store, set by its variables, with a running service: address, credentials, and that a refused
 * call under STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT increments only the counter above its limit.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { scaled } from "../../../tools/time-scale.ts";
import { counting } from "./counting-service.ts";
import { certificates } from "./servers/certificates.ts";
import { RedisCluster } from "./servers/cluster.ts";
import { MemcachedServer } from "./servers/memcached.ts";
import { RedisServer } from "./servers/redis.ts";
import { SentinelGroup } from "./servers/sentinel.ts";

interface Deployment {
  readonly env: Readonly<Record<string, string>>;
  /** The sum of the counters whose key contains a text. */
  hits(text: string): Promise<number>;
  stop(): Promise<unknown>;
}

async function hitsIn(servers: readonly RedisServer[], text: string): Promise<number> {
  let hits = 0;
  for (const server of servers)
    for (const key of (await server.command("KEYS", `*${text}*`)) as string[])
      hits += Number(await server.command("GET", key));
  return hits;
}

function redisTls() {
  const files = certificates();
  const tls = { caFile: files.ca, certFile: files.client, keyFile: files.clientKey };
  const config = [
    `tls-cert-file ${files.server}`,
    `tls-key-file ${files.serverKey}`,
    `tls-ca-cert-file ${files.ca}`,
    "tls-auth-clients yes",
    "tls-replication yes",
  ];
  const env = {
    TLS_CLIENT_CERT: files.client,
    TLS_CLIENT_KEY: files.clientKey,
    TLS_CACERT: files.ca,
  };
  return { tls, config, env };
}

const prefixed = (prefix: string, variables: Record<string, string>) =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [prefix + name, value]));

const deployments: Record<string, () => Promise<Deployment>> = {
  "single, unix socket, POOL_ON_EMPTY_BEHAVIOR=ERROR": async () => {
    const redis = await RedisServer.start();
    return {
      env: prefixed("KVSTORE_", {
        SOCKET_TYPE: "unix",
        URL: redis.socketPath,
        POOL_SIZE: "1",
        POOL_ON_EMPTY_BEHAVIOR: "ERROR",
        POOL_ON_EMPTY_WAIT_DURATION: "2s",
        TIMEOUT: `${scaled(5000)}ms`,
      }),
      hits: (text) => hitsIn([redis], text),
      stop: () => redis.stop(),
    };
  },
  "single, rediss:// with user, password and database, client certificate": async () => {
    const { tls, config, env } = redisTls();
    const redis = await RedisServer.start({
      config: [...config, "user ann on >an:na ~* +@all", "user default on nopass ~* +@all"],
      tls,
    });
    return {
      env: prefixed("KVSTORE_", {
        URL: `rediss://ann:an%3Ana@localhost:${redis.port}/2`,
        ...env,
        POOL_ON_EMPTY_BEHAVIOR: "WAIT",
      }),
      async hits(text) {
        await redis.command("SELECT", 2);
        return hitsIn([redis], text);
      },
      stop: () => redis.stop(),
    };
  },
  "sentinel, over TLS, with a password for each": async () => {
    const { tls, config, env } = redisTls();
    const group = await SentinelGroup.start({
      redis: { config: [...config, "requirepass gr:up", "masterauth gr:up"], tls, auth: ["gr:up"] },
      sentinel: {
        config: [...config, "requirepass se:ntinel", "sentinel sentinel-pass se:ntinel"],
        tls,
        auth: ["se:ntinel"],
      },
      sentinels: 2,
    });
    return {
      env: prefixed("KVSTORE_", {
        TYPE: "SENTINEL",
        URL: group.url,
        AUTH: ":gr:up",
        SENTINEL_AUTH: ":se:ntinel",
        TLS: "true",
        ...env,
      }),
      hits: (text) => hitsIn([group.servers[0]!], text),
      stop: () => group.stop(),
    };
  },
  "cluster, with a pipeline window": async () => {
    const cluster = await RedisCluster.start(3);
    return {
      env: prefixed("KVSTORE_", {
        TYPE: "cluster",
        URL: cluster.url,
        PIPELINE_WINDOW: "300us",
        POOL_SIZE: "2",
      }),
      hits: (text) => hitsIn(cluster.nodes, text),
      stop: () => cluster.stop(),
    };
  },
  "two instances: single, and a cluster over TLS with the main one's files": async () => {
    const { tls, config, env } = redisTls();
    const [main, second] = await Promise.all([
      RedisServer.start(),
      RedisCluster.start(3, 0, { config: [...config, "tls-cluster yes"], tls }),
    ]);
    return {
      env: {
        ...prefixed("KVSTORE_", { URL: main.url, PERSECOND: "true", ...env }),
        ...prefixed("KVSTORE_PERSECOND_", { TYPE: "cluster", URL: second.url, TLS: "true", POOL_SIZE: "2" }),
      },
      hits: async (text) => (await hitsIn([main], text)) + (await hitsIn(second.nodes, text)),
      stop: () => Promise.all([main.stop(), second.stop()]),
    };
  },
  "memcached, two nodes over TLS": async () => {
    const files = certificates();
    const tls = { caFile: files.ca, certFile: files.client, keyFile: files.clientKey };
    const args = [
      "-Z",
      "-o",
      `ssl_chain_cert=${files.wrongName},ssl_key=${files.wrongNameKey},ssl_ca_cert=${files.ca},ssl_verify_mode=2`,
    ];
    const start = () => MemcachedServer.start({ args, tls: { ...tls, skipHostnameVerification: true } });
    const nodes = await Promise.all([start(), start()]);
    return {
      env: {
        BACKEND_TYPE: "objcache",
        ...prefixed("OBJCACHE_", {
          HOST_PORT: nodes.map(({ url }) => url).join(),
          MAX_IDLE_CONNS: "1",
          TLS: "true",
          TLS_CLIENT_CERT: files.client,
          TLS_CLIENT_KEY: files.clientKey,
          TLS_CACERT: files.ca,
          TLS_SKIP_HOSTNAME_VERIFICATION: "true",
        }),
      },
      async hits(text) {
        let hits = 0;
        for (const node of nodes) {
          for (const key of await node.keys()) if (key.includes(text)) hits += Number(await node.get(key));
        }
        return hits;
      },
      stop: () => Promise.all(nodes.map((node) => node.stop())),
    };
  },
};

for (const [name, open] of Object.entries(deployments)) {
  test(`STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT over ${name}: a refused call increments only the counter above its limit`, async (t) => {
    const deployment = await open();
    t.after(() => deployment.stop());
    const env = {
      ...deployment.env,
      STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: "true",
      CACHE_KEY_PREFIX: "p:",
      WORKERS: "1",
    };
    await counting(env, async ({ askAll, tollgate }) => {
      for (let call = 1; call <= 5; call++) {
        const [day, week] = await askAll("day=a", "week=b", "second=c");
        assert.deepEqual([day, week], [`OK ${5 - call}`, `OK ${100 - call}`], tollgate.log.join("\n"));
      }
      for (let call = 0; call < 3; call++) {
        const [day, week] = await askAll("day=a", "week=b", "second=c");
        assert.deepEqual([day, week], ["OVER 0", "OK 95"]);
      }
      assert.deepEqual(await askAll("week=b"), ["OK 94"]);
      assert.doesNotMatch(tollgate.log.join("\n"), /an:na|gr:up|se:ntinel/);
    });
    assert.deepEqual(
      [
        await deployment.hits("p:d|day=a"),
        await deployment.hits("p:d|week=b"),
        await deployment.hits("p:d|second=c"),
      ],
      [8, 6, 5],
      "the counts in the store",
    );
  });
}
