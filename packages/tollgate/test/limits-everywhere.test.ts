/** Limits of every algorithm on a running service: gRPC, /json, the client of Waymark, /explain, /rlconfig, /stats, check. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { createLimits } from "@tollway/tollgate/limits";
import { Application, Controller } from "@tollway/waymark";
import { scaled } from "../../../tools/time-scale.ts";
import { runCheck } from "../src/commands/check.ts";
import { until } from "./counters/kvstore-support.ts";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { MemcachedServer } from "./servers/memcached.ts";
import { RedisServer } from "./servers/redis.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const rules = `
domain: d
descriptors:
  - { key: bucket, rate_limit: { unit: year, requests_per_unit: 2, algorithm: token_bucket, burst: 3 } }
  - { key: sliding, rate_limit: { unit: year, requests_per_unit: 3, algorithm: sliding_window } }
  - { key: accepted, rate_limit: { unit: year, unit_multiplier: 2, requests_per_unit: 3, count: accepted } }
  - { key: calendar, rate_limit: { unit: year, requests_per_unit: 3, calendar: { time_zone: Europe/Berlin } } }
  - key: list
    rate_limits:
      - { unit: year, requests_per_unit: 3, name: yearly }
      - { unit: year, unit_multiplier: 5, requests_per_unit: 100 }
`;
const keys = ["bucket", "sliding", "accepted", "calendar", "list"];

for (const workers of ["1", "2"])
  describe(`limits on a running service, WORKERS=${workers}`, () => {
    let tollgate: RunningTollgate;
    let caller: GrpcCaller;
    before(async () => {
      tollgate = await startTollgate({
        config: { "rules.yaml": rules },
        env: {
          WORKERS: workers,
          LIMIT_RESPONSE_HEADERS_ENABLED: "true",
          LIMIT_RESPONSE_HEADERS_FORMAT: "draft-10",
        },
      });
      caller = new GrpcCaller(tollgate.grpc);
    });
    after(async () => {
      caller.close();
      assert.equal((await tollgate.stop()).code, 0);
    });

    const page = async (address: string, path: string): Promise<string> =>
      (await fetch(`http://${address}${path}`)).text();

    for (const key of keys)
      test(`${key}: three of five calls pass, over gRPC and /json together`, async () => {
        const codes: unknown[] = [];
        for (let call = 0; call < 3; call++) {
          const { overallCode, statuses } = await caller.ask(request("d", descriptor(`${key}=${workers}`)));
          codes.push([overallCode, statuses[0]!.limitRemaining]);
          assert.equal(statuses[0]!.currentLimit?.requestsPerUnit, key === "bucket" ? 2 : 3);
        }
        assert.deepEqual(codes, [
          [1, 2],
          [1, 1],
          [1, 0],
        ]);
        const body = JSON.stringify({
          domain: "d",
          descriptors: [{ entries: [{ key, value: workers }] }],
        });
        const response = await fetch(`http://${tollgate.http}/json`, { method: "POST", body });
        assert.equal(response.status, 429);
        assert.ok(response.headers.get("ratelimit-policy")?.includes(`"d.${key}`));
        assert.ok(Number(response.headers.get("retry-after")) >= 1);
        const { statuses } = (await response.json()) as { statuses: { durationUntilReset: string }[] };
        assert.ok(Number.parseInt(statuses[0]!.durationUntilReset, 10) >= 1);
      });

    test("/explain shows each limit with its counter", async () => {
      const path = `/explain?domain=d&descriptor=list=${workers}&descriptor=bucket=${workers}`;
      const text = await page(tollgate.debug, path);
      assert.match(
        text,
        /limit {6}yearly: 3 per 31536000 s, fixed_window, counts accepted hits only, cache key \{d\|list=\d\|\}year:\d+, window .*, 3 used, 0 left/,
      );
      assert.match(
        text,
        /limit {6}2 per 31536000 s, token_bucket, burst 3, cache key d\|bucket=\d\|bucket:31536000, 3 used, 0 left/,
      );
      assert.match(text, /answer {5}OVER_LIMIT, 0 left, for 1 hit/);
      assert.match(text, /overall {4}OVER_LIMIT/);
      const single = await page(
        tollgate.debug,
        `/explain?domain=d&${["sliding", "accepted", "calendar"].map((key) => `descriptor=${key}=${workers}`).join("&")}`,
      );
      assert.match(single, /limit {6}3 per 31536000 s, sliding_window, .*\|sliding:31536000, 3 used, 0 left/);
      assert.match(
        single,
        /limit {6}3 per 63072000 s, fixed_window, counts accepted .*\|fixed:63072000:\d+, /,
      );
      // A year in Berlin begins an hour before that in UTC, and has its real length.
      assert.match(
        single,
        /limit {6}3 per (31536000|31622400) s, .*\|calendar:year:Europe\/Berlin:\d+, window \d{4}-12-31T23:00:00Z to \d{4}-12-31T23:00:00Z/,
      );
      // Counts nothing.
      assert.equal(await page(tollgate.debug, path), text);
    });

    test("/rlconfig shows the settings of each limit", async () => {
      const text = await page(tollgate.debug, "/rlconfig");
      assert.match(text, /^d\.bucket: unit=YEAR requests_per_unit=2, .*algorithm: token_bucket, burst: 3$/m);
      assert.match(text, /^d\.sliding: unit=YEAR requests_per_unit=3, .*algorithm: sliding_window$/m);
      assert.match(text, /^d\.accepted: .*unit_multiplier: 2, count: accepted$/m);
      assert.match(text, /^d\.calendar: .*calendar: \{"time_zone":"Europe\/Berlin"\}$/m);
      assert.match(text, /^d\.list: .*rate_limits: \[.*"name":"yearly".*\]$/m);
    });

    test("/stats has one over_limit for each limit of a list", async () => {
      const stats = await page(tollgate.debug, "/stats?filter=d\\.list");
      assert.match(stats, /^ratelimit\.service\.rate_limit\.d\.list\.over_limit: 1$/m);
      assert.match(stats, /^ratelimit\.service\.rate_limit\.d\.list\.limit\.yearly\.over_limit: 1$/m);
    });

    test("the client of Waymark: three of five calls pass, and the refusal names the limit", async () => {
      const limits = createLimits({ domain: "d", address: tollgate.grpc, timeout: scaled(5000) });
      class Default extends Controller {
        override before() {
          return limits.check(this, { [this.positionals[0]!]: `client${workers}` });
        }
        GET(key: string) {
          return key;
        }
      }
      const application = new Application({ controllers: { Default } });
      const ask = (key: string) => application.fetch(new Request(`http://localhost/${key}`));
      const named = {
        bucket: "2 requests per year",
        accepted: "3 requests per 2 years",
        list: "3 requests per year",
      };
      for (const key of keys) {
        for (let call = 0; call < 3; call++) assert.equal((await ask(key)).status, 200, key);
        const refused = await ask(key);
        assert.equal(refused.status, 429, key);
        assert.ok(Number(refused.headers.get("retry-after")) >= 1);
        assert.match(refused.headers.get("ratelimit-policy")!, /"d\.\w/);
        const { detail } = (await refused.json()) as { detail: string };
        const limit = named[key as keyof typeof named] ?? "3 requests per year";
        assert.ok(detail.startsWith(`the limit of ${limit} is exceeded; try again in `), detail);
      }
      limits.close();
      await application.stop();
    });
  });

test("`tollgate check` accepts the rules, and names what is wrong with its place", async () => {
  const check = async (text: string): Promise<string> => {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-limits-"));
    try {
      writeFileSync(join(folder, "rules.yaml"), text);
      let out = "";
      const write = (part: string) => (out += part);
      await runCheck([folder], { stdout: { write }, stderr: { write }, env: {}, cwd: folder });
      return out;
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
  assert.equal(await check(rules), "1 domain, 5 limits in 1 file: no errors\n");
  assert.match(
    await check(rules.replace("Europe/Berlin", "Europe/Bonn")),
    /rules\.yaml:7:\d+: unknown time zone "Europe\/Bonn": use an IANA name/,
  );
});

test("the object cache refuses rules with another algorithm, with the place and the reason", async () => {
  const tollgate = await startTollgate({
    config: { "rules.yaml": rules },
    env: { BACKEND_TYPE: "memcache", OBJCACHE_HOST_PORT: "127.0.0.1:1" },
    unopened: true,
  });
  try {
    await tollgate.logged(
      /rules\.yaml:5:\d+: `sliding_window` is not available: the object cache \(BACKEND_TYPE=memcache\) supports fixed windows only/,
    );
    await tollgate.logged(
      /rules\.yaml:4:\d+: `token_bucket` is not available: the object cache \(BACKEND_TYPE=memcache\) supports fixed windows only/,
    );
  } finally {
    await tollgate.stop("SIGKILL");
  }
});

test("Redis: plain fixed windows of any length are INCRBY and EXPIRE, everything else is one script call", async () => {
  await using redis = await RedisServer.start();
  const plain = "unit: month, requests_per_unit: 3";
  const tollgate = await startTollgate({
    config: {
      "rules.yaml": `
domain: d
descriptors:
  - { key: wide, rate_limit: { ${plain}, unit_multiplier: 2 } }
  - { key: calendar, rate_limit: { ${plain}, calendar: {} } }
  - { key: strict, rate_limit: { ${plain}, strict: true } }
  - { key: bucket, rate_limit: { ${plain}, algorithm: token_bucket } }
  - { key: list, rate_limits: [{ ${plain} }, { unit: year, requests_per_unit: 9, algorithm: sliding_window }] }
`,
    },
    env: { BACKEND_TYPE: "redis", REDIS_URL: redis.url },
  });
  const caller = new GrpcCaller(tollgate.grpc);
  const scripts = async () => (await redis.calls("eval")) + (await redis.calls("evalsha"));
  try {
    const all = (keys: readonly string[]) => keys.map((key) => descriptor(`${key}=v`));
    const left = async (keys: readonly string[]) =>
      (await caller.ask(request("d", ...all(keys)))).statuses.map(({ limitRemaining }) => limitRemaining);
    assert.deepEqual(await left(["wide", "calendar", "strict"]), [2, 2, 2]);
    assert.deepEqual([await redis.calls("incrby"), await redis.calls("expire"), await scripts()], [3, 3, 0]);
    assert.deepEqual(await left(["wide", "bucket", "list", "calendar"]), [1, 2, 2, 1]);
    // The script itself adds to the two counters that exist.
    assert.deepEqual([await redis.calls("incrby"), await redis.calls("expire"), await scripts()], [5, 3, 1]);
    const keys = (await redis.command("KEYS", "*")) as string[];
    assert.deepEqual(keys.map((key) => key.replace(/\d{10}$/, "N")).sort(), [
      "d|bucket=v|bucket:2592000",
      "d|calendar=v|calendar:month:UTC:N",
      "d|strict=v|month:N",
      "d|wide=v|fixed:5184000:N",
      "{d|list=v|}month:N",
      "{d|list=v|}sliding:31536000",
    ]);
  } finally {
    caller.close();
    await tollgate.stop();
  }
});

test("memcached: multiplied and calendar windows, accepted hits and lists of fixed windows", async () => {
  await using memcached = await MemcachedServer.start();
  const limit = "unit: year, requests_per_unit: 3";
  const tollgate = await startTollgate({
    config: {
      "rules.yaml": `
domain: d
descriptors:
  - { key: wide, rate_limit: { ${limit}, unit_multiplier: 2 } }
  - { key: calendar, rate_limit: { ${limit}, calendar: { time_zone: Europe/Berlin } } }
  - { key: accepted, rate_limit: { ${limit}, count: accepted } }
  - { key: list, rate_limits: [{ ${limit} }, { unit: day, unit_multiplier: 90, requests_per_unit: 100, name: quarter }] }
`,
    },
    env: { BACKEND_TYPE: "memcache", MEMCACHE_HOST_PORT: memcached.url, WORKERS: "1" },
  });
  const caller = new GrpcCaller(tollgate.grpc);
  try {
    const ask = async (key: string, hitsAddend: number) => {
      const [status] = (await caller.ask(request("d", descriptor(`${key}=v`, { hitsAddend })))).statuses;
      return [status!.code, status!.limitRemaining];
    };
    for (const [key, countsAll] of [
      ["wide", true],
      ["calendar", true],
      ["accepted", false],
      ["list", false],
    ] as const) {
      assert.deepEqual(await ask(key, 2), [1, 1], key);
      assert.deepEqual(await ask(key, 2), [2, 0], key);
      assert.deepEqual(await ask(key, 1), [countsAll ? 2 : 1, 0], key);
      assert.deepEqual(await ask(key, 1), [2, 0], key);
    }
    // memcached lists an item some time after it has it.
    let keys: string[] = [];
    await until("all keys are listed", async () => {
      keys = await memcached.keys();
      return keys.length >= 5;
    });
    assert.deepEqual(keys.map((key) => key.replace(/\d{10}$/, "N")).sort(), [
      "d|accepted=v|year:N",
      "d|calendar=v|calendar:year:Europe/Berlin:N",
      "d|wide=v|fixed:63072000:N",
      "{d|list=v|}fixed:7776000:N",
      "{d|list=v|}year:N",
    ]);
  } finally {
    caller.close();
    await tollgate.stop();
  }
});

test("USE_CALENDAR_MONTH_RATE_LIMIT makes a month a calendar month in UTC", async () => {
  const tollgate = await startTollgate({
    config: {
      "rules.yaml":
        "{ domain: d, descriptors: [{ key: k, rate_limit: { unit: month, requests_per_unit: 3 } }] }",
    },
    env: { USE_CALENDAR_MONTH_RATE_LIMIT: "true" },
  });
  const caller = new GrpcCaller(tollgate.grpc);
  try {
    const { statuses } = await caller.ask(request("d", descriptor("k=v")));
    const now = Temporal.Now.zonedDateTimeISO("UTC");
    const end = now.with({ day: 1 }).startOfDay().add({ months: 1 });
    const left = Number(end.epochMilliseconds - now.epochMilliseconds) / 1000;
    const reset = Number(statuses[0]!.durationUntilReset?.seconds ?? 0);
    // The month may end between the call and the reading of the clock.
    assert.ok(Math.abs(reset - left) < 600 || left > 27 * 86_400, `${reset} of ${left}`);
    const text = await (await fetch(`http://${tollgate.debug}/explain?domain=d&descriptor=k=v`)).text();
    assert.match(text, /cache key d\|k=v\|calendar:month:UTC:\d+/);
  } finally {
    caller.close();
    await tollgate.stop();
  }
});
