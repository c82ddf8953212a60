import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type KvstoreOptions, resolveOptions } from "../counters/kvstore/kvstore-options.ts";
import type { ObjcacheOptions } from "../counters/objcache/objcache-options.ts";
import { Unit } from "../protocol/messages.ts";
import { loadSettings } from "../settings/load-settings.ts";
import { rowsOf } from "../settings/read-values.ts";
import { kvstore, objcache } from "../settings/table/stores.ts";
import { decisionOptions } from "./settings-to-options.ts";
import { kvstoreOptions, objcacheOptions } from "./store-options.ts";

// Maps each variable of the stores to an option. Tests against real servers show the effects of the options.

const kvstoreDefaults: KvstoreOptions = {
  target: { type: "single", address: { host: "h", port: 1 }, database: 0 },
  poolSize: 10,
  timeout: 10_000,
  onEmpty: "CREATE",
  onEmptyWait: 1000,
  pipelineWindow: 0,
  expirationJitterMaxSeconds: 300,
};

const credentials = (user: string | undefined, password: string) => ({
  user,
  password: { reveal: () => password },
});
const tls = { skipHostnameVerification: false };
const pair = { certFile: "/c", keyFile: "/k" };

/** The variable without its prefix, its value, the other variables that it needs, and the options that differ from the defaults. */
const instanceCases: [
  name: string,
  value: string,
  beside: Record<string, string>,
  Partial<KvstoreOptions>,
][] = [
  ["URL", "g:2", {}, { target: { type: "single", address: { host: "g", port: 2 }, database: 0 } }],
  [
    "URL",
    "rediss://u:p@g/3",
    {},
    {
      target: { type: "single", address: { host: "g", port: 6379 }, database: 3 },
      credentials: credentials("u", "p"),
      tls,
    },
  ],
  ["SOCKET_TYPE", "tcp", {}, {}],
  [
    "SOCKET_TYPE",
    "unix",
    { URL: "s.sock" },
    { target: { type: "single", address: { path: "s.sock" }, database: 0 } },
  ],
  ["TYPE", "SINGLE", {}, {}],
  [
    "TYPE",
    "sentinel",
    { URL: "m,h:1,[::1]:2" },
    {
      target: {
        type: "sentinel",
        master: "m",
        sentinels: [
          { host: "h", port: 1 },
          { host: "::1", port: 2 },
        ],
      },
    },
  ],
  ["TYPE", "cluster", { URL: "h:1" }, { target: { type: "cluster", nodes: [{ host: "h", port: 1 }] } }],
  ["POOL_SIZE", "3", {}, { poolSize: 3 }],
  ["TIMEOUT", "250ms", {}, { timeout: 250 }],
  ["POOL_ON_EMPTY_BEHAVIOR", "CREATE", {}, {}],
  ["POOL_ON_EMPTY_BEHAVIOR", "ERROR", {}, { onEmpty: "ERROR" }],
  ["POOL_ON_EMPTY_BEHAVIOR", "wait", {}, { onEmpty: "WAIT" }],
  ["POOL_ON_EMPTY_WAIT_DURATION", "5ms", {}, { onEmptyWait: 5 }],
  ["PIPELINE_WINDOW", "150us", {}, { pipelineWindow: 0.15 }],
  ["PIPELINE_LIMIT", "8", {}, {}],
  ["AUTH", "secret", {}, { credentials: credentials(undefined, "secret") }],
  ["AUTH", "ann:se:cret", {}, { credentials: credentials("ann", "se:cret") }],
  ["AUTH", ":se:cret", {}, { credentials: credentials(undefined, "se:cret") }],
  ["SENTINEL_AUTH", "x:y", {}, {}],
  [
    "SENTINEL_AUTH",
    "x:y",
    { TYPE: "sentinel", URL: "m,h:1" },
    {
      target: { type: "sentinel", master: "m", sentinels: [{ host: "h", port: 1 }] },
      sentinelCredentials: credentials("x", "y"),
    },
  ],
  ["TLS", "true", {}, { tls }],
  ["TLS_CLIENT_CERT", "/c", { TLS: "true", TLS_CLIENT_KEY: "/k" }, { tls: { ...tls, ...pair } }],
  ["TLS_CLIENT_KEY", "/k", { TLS: "true", TLS_CLIENT_CERT: "/c" }, { tls: { ...tls, ...pair } }],
  ["TLS_CLIENT_CERT", "/c", { TLS_CLIENT_KEY: "/k" }, {}],
  ["TLS_CACERT", "/a", { TLS: "true" }, { tls: { ...tls, caFile: "/a" } }],
  ["TLS_SKIP_HOSTNAME_VERIFICATION", "true", { TLS: "true" }, { tls: { skipHostnameVerification: true } }],
];

/** Reveals secrets and removes the kind of addresses, so that equal options compare equal. */
function plain(options: KvstoreOptions | ObjcacheOptions): unknown {
  return JSON.parse(
    JSON.stringify(options, (key, value) => {
      if (key === "credentials" || key === "sentinelCredentials")
        return { user: value.user, password: value.password.reveal() };
      if (key === "address" || key === "") return { ...value, kind: undefined };
      if (key === "nodes" || key === "sentinels")
        return value?.map((one: object) => ({ ...one, kind: undefined }));
      return value;
    }),
  );
}

const prefixed = (prefix: string, variables: Record<string, string>) =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [prefix + name, value]));

describe("KVSTORE_* and KVSTORE_PERSECOND_*", () => {
  for (const [name, value, beside, expected] of instanceCases)
    test(`${name}=${value}${Object.keys(beside).length > 0 ? ` beside ${JSON.stringify(beside)}` : ""}`, () => {
      const variables = { URL: "h:1", ...beside, [name]: value };
      const alone = loadSettings(prefixed("KVSTORE_", variables)).settings;
      assert.deepEqual(
        plain(kvstoreOptions(alone.kvstore!.main, alone.store)),
        plain({ ...kvstoreDefaults, ...expected }),
      );
      assert.equal(alone.kvstore!.perSecond, undefined);
      const { settings } = loadSettings({
        KVSTORE_URL: "h:1",
        KVSTORE_PERSECOND: "true",
        ...prefixed("KVSTORE_PERSECOND_", variables),
      });
      assert.deepEqual(
        plain(kvstoreOptions(settings.kvstore!.perSecond!, settings.store)),
        plain({ ...kvstoreDefaults, ...expected }),
        "the per-second instance",
      );
      assert.deepEqual(
        plain(kvstoreOptions(settings.kvstore!.main, settings.store)),
        plain(kvstoreDefaults),
        "the main instance is unchanged",
      );
    });

  test("the per-second instance has its own defaults and the main instance's files", () => {
    const { settings } = loadSettings({
      ...prefixed("KVSTORE_", { URL: "h:1", POOL_SIZE: "3", TIMEOUT: "1s", AUTH: "p", TLS: "true" }),
      ...prefixed("KVSTORE_TLS_", { CLIENT_CERT: "/c", CLIENT_KEY: "/k", CACERT: "/a" }),
      ...prefixed("KVSTORE_PERSECOND", { "": "true", _URL: "h:1", _TLS: "true" }),
    });
    assert.deepEqual(
      plain(kvstoreOptions(settings.kvstore!.perSecond!, settings.store)),
      plain({ ...kvstoreDefaults, tls: { ...tls, ...pair, caFile: "/a" } }),
    );
  });

  test("options that both instances share", () => {
    const { settings } = loadSettings({
      KVSTORE_URL: "h:1",
      KVSTORE_PERSECOND: "true",
      KVSTORE_PERSECOND_URL: "h:1",
      EXPIRATION_JITTER_MAX_SECONDS: "7",
      KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION: "true",
      KVSTORE_FAILURE_MODE: "deny",
    });
    const { main, perSecond, healthCheckActiveConnection, failureMode } = settings.kvstore!;
    for (const instance of [main, perSecond!])
      assert.equal(kvstoreOptions(instance, settings.store).expirationJitterMaxSeconds, 7);
    assert.deepEqual([healthCheckActiveConnection, failureMode], [true, "deny"]);
  });

  test("the store accepts every value that the settings accept", () => {
    const extremes: Record<string, readonly string[]> = {
      POOL_SIZE: ["1", "65535"],
      TIMEOUT: ["1ns", "596h"],
      POOL_ON_EMPTY_WAIT_DURATION: ["0s", "1ns", "596h"],
      PIPELINE_WINDOW: ["0s", "1ns", "1m"],
    };
    for (const [name, values] of Object.entries(extremes))
      for (const value of values) {
        const { settings } = loadSettings({ KVSTORE_URL: "h:1", [`KVSTORE_${name}`]: value });
        assert.doesNotThrow(
          () => resolveOptions(kvstoreOptions(settings.kvstore!.main, settings.store)),
          value,
        );
      }
  });

  test("no variable is forgotten", () => {
    const shared = [
      "PERSECOND",
      "HEALTH_CHECK_ACTIVE_CONNECTION",
      "STARTUP_MAX_ELAPSED_TIME",
      "FAILURE_MODE",
    ];
    const tested = [...instanceCases.map(([name]) => name), ...shared];
    const names = rowsOf(kvstore).map(({ name }) => name.replace(/^KVSTORE_(PERSECOND_)?/, ""));
    assert.deepEqual(
      names.filter((name) => !tested.includes(name)),
      [],
    );
  });
});

describe("OBJCACHE_*", () => {
  const defaults = {
    nodes: [{ host: "h", port: 1 }],
    maxIdleConnections: 2,
    expirationJitterMaxSeconds: 300,
  };
  const found = { nodes: undefined, srv: "_a._tcp.b", srvRefresh: 0 };
  const cases: [string, string, Record<string, string>, Record<string, unknown>][] = [
    [
      "HOST_PORT",
      "g:2, [::1]:3",
      {},
      {
        nodes: [
          { host: "g", port: 2 },
          { host: "::1", port: 3 },
        ],
      },
    ],
    ["SRV", "_a._tcp.b", { HOST_PORT: "" }, found],
    ["SRV_REFRESH", "1m", { HOST_PORT: "", SRV: "_a._tcp.b" }, { ...found, srvRefresh: 60_000 }],
    ["MAX_IDLE_CONNS", "5", {}, { maxIdleConnections: 5 }],
    ["TLS", "true", {}, { tls }],
    ["TLS_CLIENT_CERT", "/c", { TLS: "true", TLS_CLIENT_KEY: "/k" }, { tls: { ...tls, ...pair } }],
    ["TLS_CLIENT_KEY", "/k", { TLS: "true", TLS_CLIENT_CERT: "/c" }, { tls: { ...tls, ...pair } }],
    ["TLS_CACERT", "/a", { TLS: "true" }, { tls: { ...tls, caFile: "/a" } }],
    ["TLS_SKIP_HOSTNAME_VERIFICATION", "true", { TLS: "true" }, { tls: { skipHostnameVerification: true } }],
    ["FAILURE_MODE", "local", {}, {}],
    ["LONG_KEYS", "fail", {}, {}],
  ];
  for (const [name, value, beside, expected] of cases)
    test(`${name}=${value}`, () => {
      const { settings } = loadSettings({
        BACKEND_TYPE: "objcache",
        ...prefixed("OBJCACHE_", { HOST_PORT: "h:1", ...beside, [name]: value }),
      });
      const options = objcacheOptions(settings.objcache!, settings.store);
      assert.deepEqual(plain(options), plain({ ...defaults, ...expected } as ObjcacheOptions));
      assert.equal(settings.objcache!.failureMode, name === "FAILURE_MODE" ? value : "error");
    });

  test("no variable is forgotten", () => {
    const tested = cases.map(([name]) => `OBJCACHE_${name}`);
    assert.deepEqual(
      rowsOf(objcache)
        .map(({ name }) => name)
        .filter((name) => !tested.includes(name)),
      [],
    );
  });
});

describe("the format of the keys, and the longest key that is not hashed", () => {
  const kvstore = { BACKEND_TYPE: "kvstore", KVSTORE_URL: "h:1" };
  const objcache = { BACKEND_TYPE: "objcache", OBJCACHE_HOST_PORT: "h:1" };
  const compatible = { CACHE_KEY_FORMAT: "compatible" };
  const [own, theirs] = [(value: string) => `d|k=${value}|minute:`, (value: string) => `d_k_${value}_`];
  const cases: [environment: Record<string, string>, key: (value: string) => string, longest: number][] = [
    [{ BACKEND_TYPE: "embedded" }, own, 1_000_000],
    [kvstore, own, 512],
    [objcache, own, 250],
    [{ ...objcache, OBJCACHE_LONG_KEYS: "fail" }, own, 1_000_000],
    [{ BACKEND_TYPE: "embedded", ...compatible }, own, 1_000_000],
    [{ ...kvstore, ...compatible }, theirs, 65_536],
    [{ ...objcache, ...compatible }, theirs, 250],
    [{ ...objcache, OBJCACHE_LONG_KEYS: "fail", ...compatible }, theirs, 1_000_000],
  ];
  for (const [environment, key, longest] of cases)
    test(JSON.stringify(environment), () => {
      const { keyFormat } = decisionOptions(loadSettings(environment).settings);
      const stemOf = (value: string) =>
        keyFormat("d", [{ key: "k", value }], { sharedValues: undefined }, Unit.MINUTE);
      // The window start has 10 digits.
      const value = "v".repeat(longest - 10 - key("").length);
      assert.equal(stemOf(value), key(value));
      if (longest < 1_000_000) assert.match(stemOf(`${value}v`), /^#[0-9a-f]{32}:minute:$/);
    });

  test("only the compatible format sends EXPIRE with every count", () => {
    for (const [environment, always] of [
      [kvstore, undefined],
      [{ ...kvstore, ...compatible }, true],
    ] as const) {
      const { settings } = loadSettings(environment);
      assert.equal(kvstoreOptions(settings.kvstore!.main, settings.store).alwaysExpire, always);
    }
  });
});
