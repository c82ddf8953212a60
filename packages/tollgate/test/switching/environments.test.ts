/** The environments of the Go service's compose examples are valid here, and mean the same. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadSettings } from "../../src/settings/load-settings.ts";

const common = {
  LOG_LEVEL: "debug",
  REDIS_SOCKET_TYPE: "tcp",
  REDIS_URL: "redis:6379",
  RUNTIME_ROOT: "/data",
  RUNTIME_SUBDIRECTORY: "ratelimit",
};
const statsd = {
  USE_STATSD: "true",
  STATSD_HOST: "statsd",
  STATSD_PORT: "9125",
  RUNTIME_WATCH_ROOT: "false",
};

const cases: [name: string, environment: Record<string, string>, warnings: string[]][] = [
  [
    "example",
    {
      ...common,
      ...statsd,
      CONFIG_TYPE: "FILE",
      CONFIG_GRPC_XDS_NODE_ID: "test-node-id",
      CONFIG_GRPC_XDS_SERVER_URL: "ratelimit-xds-config-server:18000",
    },
    [],
  ],
  [
    "example with a management server",
    {
      ...common,
      ...statsd,
      CONFIG_TYPE: "GRPC_XDS_SOTW",
      CONFIG_GRPC_XDS_NODE_ID: "test-node-id",
      CONFIG_GRPC_XDS_SERVER_URL: "ratelimit-xds-config-server:18000",
    },
    [],
  ],
  ["integration tests", { ...common, ...statsd, RESPONSE_DYNAMIC_METADATA: "true" }, []],
  [
    "development, with both stores",
    { ...common, USE_STATSD: "false", MEMCACHE_HOST_PORT: "memcached:11211" },
    ["settings without effect, because the back end is the key-value store: MEMCACHE_HOST_PORT"],
  ],
];

for (const [name, environment, expected] of cases)
  test(name, () => {
    const { settings, warnings, infos } = loadSettings(environment);
    assert.deepEqual([warnings, infos], [expected, []]);
    assert.equal(settings.store.backend, "kvstore");
    assert.deepEqual(settings.kvstore!.main.target, {
      type: "single",
      address: { kind: "tcp", host: "redis", port: 6379 },
      database: 0,
    });
    assert.equal(settings.kvstore!.statisticsName, "redis");
    assert.equal(settings.store.requiredAtStart, true);
    assert.equal(settings.files.root, "/data");
    assert.equal(settings.files.subdirectory, "ratelimit");
    assert.equal(settings.config.type, environment.CONFIG_TYPE === "GRPC_XDS_SOTW" ? "xds" : "file");
    if (environment.USE_STATSD === "true")
      assert.deepEqual([settings.stats.push?.host, settings.stats.push?.port], ["statsd", 9125]);
    else assert.equal(settings.stats.standardOutput, true);
  });
