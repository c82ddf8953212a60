/** Counters through the admin API, with every store: read, search, reset. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { embedded, memcached, type StoreUnderTest, sharedStores } from "./admin-stores.ts";
import { AdminClient, adminEnv } from "./admin-support.ts";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const fixed = `
domain: d
descriptors:
  - { key: day, rate_limit: { unit: day, requests_per_unit: 5 } }
  - { key: accepted, rate_limit: { unit: day, requests_per_unit: 5, count: accepted } }
  - { key: free, rate_limit: { unlimited: true } }
  - key: list
    rate_limits:
      - { requests_per_unit: 100, unit: day }
      - { requests_per_unit: 5, unit: year, name: yearly }
`;

const others = `
  - { key: slide, rate_limit: { unit: day, requests_per_unit: 5, algorithm: sliding_window } }
  - { key: bucket, rate_limit: { unit: day, requests_per_unit: 5, algorithm: token_bucket } }
  - key: second
    rate_limits:
      - { requests_per_unit: 5, unit: year }
      - { requests_per_unit: 1000, unit: second }
`;

interface Setup {
  readonly tollgate: RunningTollgate;
  readonly admin: AdminClient;
  /** Hits a descriptor through several connections, so through several threads. @returns the number of OK answers */
  hit(text: string, times: number): Promise<number>;
}

/** Starts a store and a Tollgate once for the tests of a suite. Each test uses its own values of descriptors. */
function withStore(open: () => Promise<StoreUnderTest>, rules: string): () => Setup {
  let store: StoreUnderTest | undefined;
  let tollgate: RunningTollgate | undefined;
  let callers: readonly GrpcCaller[] = [];
  before(async () => {
    store = await open();
    const started = await startTollgate({
      config: { "d.yaml": rules },
      env: { ...adminEnv, WORKERS: "2", LOCAL_CACHE_SIZE_IN_BYTES: "1000000", ...store.env },
    });
    tollgate = started;
    callers = Array.from(
      { length: 8 },
      () => new GrpcCaller(started.grpc, undefined, { "grpc.use_local_subchannel_pool": 1 }),
    );
  });
  after(async () => {
    for (const caller of callers) caller.close();
    const end = await tollgate?.stop();
    await store?.stop();
    assert.equal(end?.code, 0, tollgate?.log.join("\n") ?? "");
  });
  return () => ({
    tollgate: tollgate!,
    admin: new AdminClient(tollgate!),
    async hit(text, times) {
      let passed = 0;
      for (let time = 0; time < times; time++) {
        const caller = callers[time % callers.length]!;
        const { overallCode } = await caller.ask(request("d", descriptor(text)));
        if (overallCode === 1) passed += 1;
      }
      return passed;
    },
  });
}

interface LimitView {
  readonly seconds: number;
  readonly count: number;
  readonly holds: number;
  readonly resetSeconds?: number;
}

/** Limits without the parts that time alone changes during a test: windows of a second, seconds until a reset. */
function lasting(limits: readonly LimitView[]): readonly LimitView[] {
  return limits.filter(({ seconds }) => seconds > 1).map(({ resetSeconds: _, ...rest }) => rest);
}

const stores = {
  embedded: [embedded, fixed + others, ["day", "accepted", "list", "slide", "bucket", "second"]],
  ...Object.fromEntries(
    Object.entries(sharedStores).map(([name, open]) => [
      name,
      [open, fixed + others, ["day", "accepted", "list", "slide", "bucket", "second"]],
    ]),
  ),
  memcached: [memcached, fixed, ["day", "accepted", "list"]],
} as unknown as Record<string, [() => Promise<StoreUnderTest>, string, readonly string[]]>;

for (const [name, [open, rules, keys]] of Object.entries(stores))
  describe(`counters of ${name}`, () => {
    const setup = withStore(open, rules);

    test("a reset lets every thread pass at once, and is in the audit log", async () => {
      const { admin, hit, tollgate } = setup();
      for (const key of keys) {
        for (let round = 0; round < 2; round++) {
          // With memcached, threads count the hits of each other's last round trips late.
          const passed = await hit(`${key}=a`, 20);
          if (name === "memcached") assert.ok(passed >= 5 && passed < 20, `${key} ${passed}`);
          else assert.equal(passed, 5, key);
          const before = await admin.counter("d", `${key}=a`);
          assert.equal(before.status, 200, JSON.stringify(before.json));
          const exhausted = before.json.limits.find((limit: { remaining: number }) => limit.remaining === 0);
          assert.ok(exhausted !== undefined, JSON.stringify(before.json));
          assert.equal(exhausted.limit, 5);
          assert.ok(exhausted.count >= 5);
          const reset = await admin.post("counters/reset", {
            domain: "d",
            descriptor: `${key}=a`,
            reason: "a test",
          });
          assert.equal(reset.status, 200, JSON.stringify(reset.json));
          assert.deepEqual(lasting(reset.json.before), lasting(before.json.limits));
          for (const limit of reset.json.limits) assert.equal(limit.count, 0, key);
        }
      }
      const audit = await admin.get("audit");
      if (name === "memcached") assert.equal(audit.status, 501);
      else {
        const { changes } = audit.json;
        assert.equal(changes.length, 2 * keys.length);
        const [last] = changes;
        assert.equal(last.who, "alice");
        assert.equal(last.what, "counters.reset");
        assert.equal(last.reason, "a test");
        assert.deepEqual(last.target, { domain: "d", descriptor: `${keys.at(-1)}=a` });
        assert.ok(last.before.some((limit: { count: number }) => limit.count === 5));
      }
      assert.equal((await tollgate.loggedTimes(/audit: /, 2 * keys.length)).length, 2 * keys.length);
    });

    if (name !== "memcached")
      test("open reservations are shown, and a reset keeps them", async () => {
        const { admin, hit, tollgate } = setup();
        for (const key of keys) {
          await hit(`${key}=held`, 2);
          const reserved = await fetch(`http://${tollgate.http}/v1/reserve`, {
            method: "POST",
            body: JSON.stringify({
              domain: "d",
              descriptors: [{ entries: [{ key, value: "held" }] }],
              amount: 1,
            }),
          });
          assert.equal(reserved.status, 200, await reserved.text());
          const limits = async (): Promise<readonly LimitView[]> =>
            (await admin.counter("d", `${key}=held`)).json.limits;
          for (const { count, holds } of lasting(await limits()))
            assert.deepEqual([count, holds], [2, 1], key);
          const reset = await admin.post("counters/reset", { domain: "d", descriptor: `${key}=held` });
          assert.equal(reset.status, 200, JSON.stringify(reset.json));
          const after = await limits();
          for (const { count } of after) assert.equal(count, 0, key);
          for (const { holds } of lasting(after)) assert.equal(holds, 1, key);
        }
      });

    test("a descriptor without a limit is not found", async () => {
      const { admin } = setup();
      for (const [domain, text, expected] of [
        ["d", "missing=a", /no limit: no rule/],
        ["x", "day=a", /the domain .*x.* is not configured/],
      ] as const) {
        const answer = await admin.counter(domain, text);
        assert.equal(answer.status, 404);
        assert.match(answer.json.detail, expected);
        assert.equal((await admin.post("counters/reset", { domain, descriptor: text })).status, 404);
      }
      assert.deepEqual((await admin.counter("d", "free=a")).json.limits, []);
    });

    test(
      name === "memcached" ? "a search says why it cannot be done" : "searches by prefix, page by page",
      async () => {
        const { admin, hit } = setup();
        if (name === "memcached") {
          const answer = await admin.get("counters?domain=d");
          assert.equal(answer.status, 501);
          assert.match(answer.json.detail, /memcached cannot list its keys/);
          return;
        }
        const tenants = Array.from({ length: 60 }, (_, index) => `tenant ${index}%|`);
        for (const tenant of tenants) await hit(`day=${tenant}`, 1);
        for (const key of keys) await hit(`${key}=other`, 2);
        const found = new Map<string, number>();
        let next: string | undefined = "";
        let pages = 0;
        do {
          const query = new URLSearchParams({ domain: "d", prefix: "day=tenant ", limit: "20", next });
          const { json, status } = await admin.get(`counters?${query}`);
          assert.equal(status, 200, JSON.stringify(json));
          for (const { descriptor: text, count } of json.counters) found.set(text, count);
          next = json.next;
          pages += 1;
        } while (next !== undefined);
        assert.deepEqual([...found.keys()].sort(), tenants.map((tenant) => `day=${tenant}`).sort());
        assert.deepEqual(new Set(found.values()), new Set([1]));
        assert.ok(pages >= 1);
        const all: string[] = [];
        next = "";
        do {
          const { json } = await admin.get(`counters?${new URLSearchParams({ limit: "1000", next })}`);
          all.push(...json.counters.map((counter: { descriptor: string }) => counter.descriptor));
          next = json.next;
        } while (next !== undefined);
        for (const key of keys) assert.ok(all.includes(`${key}=other`), `${key}: ${all}`);
        for (const bad of ["x", "99999.0", "0.", "s0.x"]) {
          const answer = await admin.get(`counters?domain=d&next=${bad}`);
          assert.equal(answer.status, 400, bad);
          assert.equal(answer.json.errors[0].name, "next");
        }
      },
    );
  });
