/** The requests that a real Envoy passes and refuses, with Tollgate as its rate limit service. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { MemcachedServer } from "../test/servers/memcached.ts";
import { RedisServer } from "../test/servers/redis.ts";
import { startTollgate } from "../test/tollgate.ts";
import { Gateway } from "./gateway.ts";

const config = {
  "gateway.yaml":
    "domain: gateway\ndescriptors:\n  - key: user\n    rate_limit: { unit: day, requests_per_unit: 3 }\n",
};

/** Three requests of a limit of three pass; the fourth is refused. */
const LIMITED = [200, 200, 200, 429];

/** Envoy forwards a header's bytes unchanged, so callers can send any bytes. */
const values: readonly [name: string, value: Uint8Array | string][] = [
  ["a plain value", "alice"],
  ["a value in UTF-8", "süß"],
  ["a value that is not UTF-8", Buffer.from([0x6d, 0xff, 0xfe])],
  ["a truncated UTF-8 sequence", Buffer.from([0x61, 0xe2, 0x82])],
  ["a surrogate in UTF-8's form", Buffer.from([0xed, 0xa0, 0x80])],
  ["the text that an escaped byte looks like", "m\\xff\\xfe"],
  ["separators of a cache key", "a|b=c%7C{d}"],
  ["a value of 400 bytes, longer than a memcached key", "x".repeat(400)],
  ["a value of 40,000 bytes", "y".repeat(40_000)],
];

/** The settings of each store. The disposer stops the servers that it starts. */
const stores: Readonly<Record<string, (using: AsyncDisposableStack) => Promise<Record<string, string>>>> = {
  embedded: async () => ({ BACKEND_TYPE: "embedded" }),
  Redis: async (using) => ({
    BACKEND_TYPE: "kvstore",
    KVSTORE_URL: using.use(await RedisServer.start()).url,
  }),
  memcached: async (using) => ({
    BACKEND_TYPE: "objcache",
    OBJCACHE_HOST_PORT: using.use(await MemcachedServer.start()).url,
  }),
};

for (const [store, open] of Object.entries(stores))
  describe(`behind Envoy, counters in ${store}`, () => {
    const using = new AsyncDisposableStack();
    let gateway: Gateway;
    before(async () => {
      const tollgate = await startTollgate({ config, env: await open(using) });
      using.defer(async () => void (await tollgate.stop()));
      gateway = using.use(await Gateway.start({ rateLimitService: tollgate.grpc }));
    });
    after(() => using.disposeAsync());

    for (const [name, value] of values)
      test(`${name} is counted and limited`, async () => {
        const statuses: number[] = [];
        for (let call = 0; call < 4; call++) statuses.push(await gateway.ask(value));
        assert.deepEqual(statuses, LIMITED);
      });
  });

describe("without a rate limit service", () => {
  const cases: readonly [name: string, failureModeDeny: boolean | undefined, status: number][] = [
    ["failure_mode_deny is not set: every request passes", undefined, 200],
    ["failure_mode_deny: false: every request passes", false, 200],
    ["failure_mode_deny: true: every request is refused with 500", true, 500],
  ];
  for (const [name, failureModeDeny, status] of cases)
    test(name, async () => {
      const tollgate = await startTollgate({ config });
      const rateLimitService = tollgate.grpc;
      await tollgate.stop();
      await using gateway = await Gateway.start({
        rateLimitService,
        ...(failureModeDeny !== undefined && { failureModeDeny }),
      });
      assert.equal(await gateway.ask("alice"), status);
    });
});
