/** Overrides and grants through the admin API, with every store that keeps them. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { embedded, memcached, type StoreUnderTest, sharedStores } from "./admin-stores.ts";
import { AdminClient, adminEnv, BOB } from "./admin-support.ts";
import { until } from "./counters/kvstore-support.ts";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const config = {
  "d.yaml": `
domain: d
descriptors:
  - { key: day, rate_limit: { unit: day, requests_per_unit: 4 } }
  - { key: slide, rate_limit: { unit: day, requests_per_unit: 4, algorithm: sliding_window } }
  - { key: brief, rate_limit: { unit: second, unit_multiplier: 2, requests_per_unit: 4, algorithm: sliding_window } }
  - { key: bucket, rate_limit: { unit: day, requests_per_unit: 4, algorithm: token_bucket } }
  - { key: second, rate_limit: { unit: second, requests_per_unit: 4, algorithm: token_bucket } }
  - { key: mixed, rate_limits: [{ unit: day, requests_per_unit: 9 }, { unit: week, requests_per_unit: 2, algorithm: token_bucket }] }
  - { key: free, rate_limit: { unlimited: true } }
  - { key: shared, value: "a*", share_threshold: true, rate_limit: { unit: day, requests_per_unit: 4 } }
  - key: list
    rate_limits:
      - { requests_per_unit: 4, unit: day }
      - { requests_per_unit: 100, unit: year, name: yearly }
`,
};

class Replica {
  readonly tollgate: RunningTollgate;
  readonly admin: AdminClient;
  readonly #callers: readonly GrpcCaller[];

  private constructor(tollgate: RunningTollgate) {
    this.tollgate = tollgate;
    this.admin = new AdminClient(tollgate);
    this.#callers = Array.from(
      { length: 6 },
      () => new GrpcCaller(tollgate.grpc, undefined, { "grpc.use_local_subchannel_pool": 1 }),
    );
  }

  static async start(env: Readonly<Record<string, string>>): Promise<Replica> {
    return new Replica(
      await startTollgate({
        config,
        env: { ...adminEnv, WORKERS: "2", LOCAL_CACHE_SIZE_IN_BYTES: "1000000", LOG_LEVEL: "info", ...env },
      }),
    );
  }

  /** Hits a descriptor through all threads. @returns the number of OK answers */
  async hit(text: string, times: number): Promise<number> {
    let passed = 0;
    for (let time = 0; time < times; time++) {
      const caller = this.#callers[time % this.#callers.length]!;
      if ((await caller.ask(request("d", descriptor(text)))).overallCode === 1) passed += 1;
    }
    return passed;
  }

  /** The answers of the threads. */
  ask(asked: ReturnType<typeof request>) {
    return Promise.all(this.#callers.map((caller) => caller.ask(asked)));
  }

  /** The limits that the threads answer with. */
  async limits(text: string): Promise<ReadonlySet<number | undefined>> {
    const answers = await this.ask(request("d", descriptor(text, { hitsAddend: 0 })));
    return new Set(answers.map(({ statuses }) => statuses[0]!.currentLimit?.requestsPerUnit));
  }

  async debug(path: string): Promise<string> {
    return (await fetch(`http://${this.tollgate.debug}${path}`)).text();
  }

  async stop(): Promise<void> {
    for (const caller of this.#callers) caller.close();
    assert.equal((await this.tollgate.stop()).code, 0, this.tollgate.log.join("\n"));
  }
}

/** Starts replicas once for the tests of a suite. Each test uses its own descriptors. */
class Replicas {
  readonly list: Replica[] = [];
  #store: StoreUnderTest | undefined;

  constructor(open: () => Promise<StoreUnderTest>, count: number) {
    before(async () => {
      this.#store = await open();
      for (let index = 0; index < count; index++) await this.add();
    });
    after(async () => {
      for (const replica of this.list) await replica.stop();
      await this.#store?.stop();
    });
  }

  get one(): Replica {
    return this.list[0]!;
  }

  get other(): Replica {
    return this.list.at(-1)!;
  }

  async add(): Promise<Replica> {
    const replica = await Replica.start(this.#store!.env);
    this.list.push(replica);
    return replica;
  }
}

async function all(replicas: readonly Replica[], text: string, limit: number | undefined): Promise<void> {
  for (const [index, replica] of replicas.entries())
    await until(`replica ${index} has the limit ${limit} for ${text}`, async () => {
      const limits = await replica.limits(text);
      return limits.size === 1 && limits.has(limit);
    });
}

const stores = { embedded, ...sharedStores };

for (const [name, open] of Object.entries(stores))
  describe(`overrides with ${name}`, () => {
    const replicas = new Replicas(open, name === "embedded" ? 1 : 2);

    test("raise, lower, suspend and lift a limit for one descriptor, in all threads and replicas", async () => {
      const { list, one, other } = replicas;
      assert.equal(await one.hit("day=a", 8), 4);
      assert.equal(await other.hit("day=a", 8), 0);
      const body = { domain: "d", descriptor: "day=a", requestsPerUnit: 20, reason: "ticket 7" };
      const set = await one.admin.put("overrides/acme", body);
      assert.equal(set.status, 200, JSON.stringify(set.json));
      assert.deepEqual(set.json.effect, ["limit 4, raised to 20 by override acme of alice (ticket 7)"]);
      // The threads of this replica use it when the answer arrives.
      assert.deepEqual(await one.limits("day=a"), new Set([20]));
      await all(list, "day=a", 20);
      // The counter goes on: the cached refusals are gone.
      const before = (await one.admin.counter("d", "day=a")).json.limits[0];
      assert.equal(before.limit, 20);
      const rest = 20 - before.count;
      assert.equal((await one.hit("day=a", 10)) + (await other.hit("day=a", 20)), rest);
      assert.deepEqual(await one.limits("day=b"), new Set([4]), "others keep their limit");
      for (const replica of list) {
        const explained = await replica.debug("/explain?domain=d&descriptor=day=a");
        assert.match(explained, /note {7}limit 4, raised to 20 by override acme of alice \(ticket 7\)/);
        assert.match(explained, /answer {5}OVER_LIMIT/);
        const dump = await replica.debug("/rlconfig");
        assert.match(dump, /^override acme: d day=a: limit 4, raised to 20 by override acme of alice/m);
      }
      for (const [change, limit] of [
        [{ requestsPerUnit: 2 }, 2],
        [{ requestsPerUnit: 0 }, 0],
        [{ unlimited: true }, undefined],
        [{ requestsPerUnit: 4_000_000_000_000 }, 4_294_967_295],
      ] as const) {
        const answer = await other.admin.put("overrides/acme", {
          domain: "d",
          descriptor: "day=a",
          ...change,
        });
        assert.equal(answer.status, 200, JSON.stringify(answer.json));
        await all(list, "day=a", limit);
      }
      assert.equal((await one.admin.delete("overrides/acme")).status, 200);
      await all(list, "day=a", 4);
      assert.equal((await one.admin.delete("overrides/acme")).status, 404);
      const { changes } = (await one.admin.get("audit")).json;
      assert.deepEqual(
        changes.map(({ what }: { what: string }) => what),
        ["overrides.remove", ...new Array(5).fill("overrides.set")],
      );
      assert.equal(changes[0].before.requestsPerUnit, 4_000_000_000_000);
    });

    test("an override ends by itself; a grant adds to it", async () => {
      const { list, one, other } = replicas;
      for (const key of ["day", "slide"]) {
        const target = { domain: "d", descriptor: `${key}=ends` };
        assert.equal(await one.hit(`${key}=ends`, 6), 4, key);
        const granted = await other.admin.post("counters/grant", { ...target, hits: 3 });
        assert.equal(granted.status, 200, JSON.stringify(granted.json));
        assert.equal(granted.json.limits[0].limit, 7);
        assert.match(granted.json.notes[0], /^limit 4, raised to 7 until .* by a grant of 3 from alice$/);
        await all(list, `${key}=ends`, 7);
        const explained = () => one.debug(`/explain?domain=d&descriptor=${key}=ends`);
        assert.match(
          await explained(),
          /note {7}limit 4, raised to 7 until .* UTC by a grant of 3 from alice/,
        );
        const { count: used } = granted.json.limits[0];
        assert.equal(await one.hit(`${key}=ends`, 8), Math.max(7 - used, 0), key);
        const id = `short-${key}`;
        const set = (milliseconds: number) => {
          const expires = new Date(Date.now() + milliseconds).toISOString();
          return one.admin.put(`overrides/${id}`, { ...target, requestsPerUnit: 10, expires });
        };
        assert.equal((await set(3_600_000)).status, 200);
        await all(list, `${key}=ends`, 13);
        assert.match(
          await explained(),
          new RegExp(
            `limit 4, raised to 13 until .* by a grant of 3 from alice and until .* UTC by override ${id} of alice`,
          ),
        );
        // A request that arrives after its end is refused.
        for (let milliseconds = 500; (await set(milliseconds)).status !== 200; milliseconds *= 2);
        await all(list, `${key}=ends`, 7);
        assert.equal((await one.admin.get(`overrides/${id}`)).status, 404);
        const listed = (await one.admin.get("overrides")).json.overrides;
        const grant = listed.find((item: { descriptor: string }) => item.descriptor === `${key}=ends`);
        assert.equal(grant.hits, 3);
        assert.equal((await one.admin.delete(`overrides/${grant.id}`, { reason: "a mistake" })).status, 200);
        await all(list, `${key}=ends`, 4);
      }
    });

    test("a grant on a sliding window ends by itself after the window's length", async () => {
      const { list, one, other } = replicas;
      const target = { domain: "d", descriptor: "brief=a" };
      // More hits at once than the limit allows, whatever is used.
      const fiveHits = request("d", descriptor(target.descriptor, { hitsAddend: 5 }));
      const passes = async () => (await one.ask(fiveHits)).some(({ overallCode }) => overallCode === 1);
      assert.equal(await passes(), false);
      let begun = 0;
      do {
        begun = Date.now();
        const granted = await other.admin.post("counters/grant", { ...target, hits: 3 });
        assert.equal(granted.status, 200, JSON.stringify(granted.json));
        // On a slow machine the grant may end before the hits arrive.
      } while (!(await passes()));
      const { what, after } = (await one.admin.get("audit")).json.changes[0];
      assert.equal(what, "counters.grant");
      const end = Date.parse(after.expires);
      assert.ok(end >= begun + 2000, `it ends ${end - begun} ms after its beginning`);
      await all(list, target.descriptor, 4);
      assert.ok(Date.now() >= end, "the grant ended early");
      assert.equal(await passes(), false);
      const listed: readonly { descriptor: string }[] = (await one.admin.get("overrides")).json.overrides;
      assert.ok(!listed.some((item) => item.descriptor === target.descriptor));
    });

    test("the end of a lower limit, its removal and a grant reach the cached refusals of all replicas", async () => {
      const { list, one, other } = replicas;
      const target = { domain: "d", descriptor: "day=lowered" };
      const set = (expires?: string) =>
        one.admin.put("overrides/lowered", { ...target, requestsPerUnit: 0, ...(expires && { expires }) });
      const passes = async (limit: number) => {
        await all(list, "day=lowered", limit);
        for (const replica of list)
          await until("no refusal of the former limit is left", async () => {
            const asked = request("d", descriptor("day=lowered", { hitsAddend: 0 }));
            return (await replica.ask(asked)).every(({ overallCode }) => overallCode === 1);
          });
      };
      // Each of these rounds counts hits that a limit of 0 refuses, and leaves refusals in the caches.
      for (const change of ["end", "removal", "grant"] as const) {
        assert.equal((await one.admin.post("counters/reset", target)).status, 200);
        // A request that arrives after its end is refused.
        let milliseconds = 500;
        const soon = () => new Date(Date.now() + milliseconds).toISOString();
        while ((await set(change === "end" ? soon() : undefined)).status !== 200) milliseconds *= 2;
        for (const replica of list) await replica.hit("day=lowered", 1);
        if (change === "removal") assert.equal((await other.admin.delete("overrides/lowered")).status, 200);
        if (change === "grant") {
          const granted = await other.admin.post("counters/grant", { ...target, hits: 9 });
          assert.equal(granted.status, 200, JSON.stringify(granted.json));
        }
        await passes(change === "grant" ? 9 : 4);
      }
      assert.equal((await one.admin.delete("overrides/lowered")).status, 200);
    });

    test("a grant gives a token bucket tokens once, above its size, for all replicas at once", async () => {
      const { one, other } = replicas;
      const grant = (text: string, hits: number, limit?: string) =>
        one.admin.post("counters/grant", {
          domain: "d",
          descriptor: text,
          hits,
          ...(limit !== undefined && { limit }),
        });
      assert.equal(await one.hit("bucket=granted", 6), 4);
      const granted = await grant("bucket=granted", 3);
      assert.equal(granted.status, 200, JSON.stringify(granted.json));
      const [shown] = granted.json.limits;
      assert.deepEqual([shown.limit, shown.burst, shown.granted, shown.remaining], [4, 4, 3, 3]);
      assert.match(
        await other.debug("/explain?domain=d&descriptor=bucket=granted"),
        /4 used, 3 left, 3 of them granted[\s\S]*answer {5}OK/,
      );
      assert.equal(await other.hit("bucket=granted", 6), 3);
      // Above a full bucket, twice. An override keeps them.
      await grant("bucket=above", 3);
      assert.equal((await grant("bucket=above", 2)).json.limits[0].granted, 5);
      const smaller = { domain: "d", descriptor: "bucket=above", requestsPerUnit: 4, burst: 2 };
      assert.equal((await one.admin.put("overrides/smaller", smaller)).status, 200);
      assert.equal(await one.hit("bucket=above", 9), 7);
      assert.equal(
        (await one.admin.post("counters/reset", { domain: "d", descriptor: "bucket=above" })).status,
        200,
      );
      assert.equal(await one.hit("bucket=above", 9), 2);
      // A bucket of a second is elsewhere if there are two instances. It refills while the test runs.
      assert.equal((await grant("second=a", 1000)).status, 200);
      assert.equal(await other.hit("second=a", 40), 40);
      assert.equal((await grant("mixed=a", 3, "week")).status, 200);
      assert.equal(await other.hit("mixed=a", 9), 5);
      const { changes } = (await one.admin.get("audit?limit=1")).json;
      assert.deepEqual([changes[0].what, changes[0].after], ["counters.grant", { hits: 3, limit: "week" }]);
      assert.equal((await one.admin.delete("overrides/smaller")).status, 200);
    });

    test("buckets and lists; a new replica starts with the overrides", async () => {
      const { one } = replicas;
      assert.equal(await one.hit("bucket=a", 6), 4);
      const set = (id: string, body: object) => one.admin.put(`overrides/${id}`, { domain: "d", ...body });
      const bucket = await set("bucket", { descriptor: "bucket=b", requestsPerUnit: 8, burst: 6 });
      assert.equal(bucket.status, 200, JSON.stringify(bucket.json));
      assert.equal(await one.hit("bucket=b", 10), 6);
      assert.equal(await one.hit("list=a", 6), 4);
      assert.equal((await set("list", { descriptor: "list=a", limit: "day", unlimited: true })).status, 200);
      assert.equal(await one.hit("list=a", 6), 6);
      assert.equal(
        (await set("list", { descriptor: "list=a", limit: "day", requestsPerUnit: 12 })).status,
        200,
      );
      assert.equal(await one.hit("list=a", 6), 2);
      const granted = await one.admin.post("counters/grant", {
        domain: "d",
        descriptor: "list=a",
        limit: "day",
        hits: 2,
      });
      assert.equal(granted.status, 200, JSON.stringify(granted.json));
      assert.equal(await one.hit("list=a", 6), 2);
      if (name === "embedded") return;
      const late = await replicas.add();
      assert.equal(await late.hit("bucket=b", 2), 0);
      const { limits } = (await late.admin.counter("d", "list=a")).json;
      assert.deepEqual(
        limits.map(({ name, limit }: { name: string; limit: number }) => [name, limit]),
        [
          ["day", 14],
          ["yearly", 100],
        ],
      );
    });
  });

describe("overrides of a process with one thread", () => {
  const replicas = new Replicas(async () => ({ ...(await embedded()), env: { WORKERS: "1" } }), 1);

  test("faulty overrides and grants change nothing", async () => {
    const { admin } = replicas.one;
    const a = { domain: "d", descriptor: "day=a", requestsPerUnit: 5 };
    assert.equal((await admin.put("overrides/first", a)).status, 200);
    for (const [id, body, status, expected] of [
      ["second", a, 409, /override first already changes this limit/],
      ["bad id", a, 400, /1 to 64 letters/],
      ["x", { ...a, unlimited: true }, 400, /requestsPerUnit or unlimited must be given, and not both/],
      ["x", { domain: "d", descriptor: "day=b" }, 400, /requestsPerUnit or unlimited must be given/],
      ["x", { ...a, descriptor: "day=b", burst: 3 }, 400, /burst needs a token bucket/],
      ["x", { ...a, descriptor: "day=b", limit: "day" }, 400, /the rule has one limit/],
      ["x", { ...a, descriptor: "list=b" }, 400, /name of a limit of the list: day, yearly/],
      ["x", { ...a, descriptor: "list=b", limit: "minute" }, 400, /day, yearly/],
      ["x", { ...a, descriptor: "bucket=b", requestsPerUnit: 1e10 }, 400, /at most 1000000000/],
      ["x", { ...a, descriptor: "free=b" }, 501, /the rule is unlimited/],
      ["x", { ...a, descriptor: "shared=ab" }, 501, /share a counter/],
      ["x", { ...a, descriptor: "none=b" }, 404, /no rule/],
      ["x", { ...a, requestsPerUnit: -1 }, 400, /whole number from 0/],
      ["x", { ...a, requestsPerUnit: 1.5 }, 400, /whole number from 0/],
      ["x", { ...a, requestsPerUnit: 2 ** 53 }, 400, /whole number from 0/],
      ["x", { ...a, expires: "tomorrow" }, 400, /2026-12-31T18:00:00Z/],
      ["x", { ...a, expires: "2020-01-01T00:00:00Z" }, 400, /in the future/],
    ] as const) {
      const answer = await admin.put(`overrides/${encodeURIComponent(id)}`, body);
      assert.equal(answer.status, status, JSON.stringify(answer.json));
      assert.match(answer.json.detail, expected);
    }
    for (const [body, expected] of [
      [{ ...a, hits: 1 }, /requestsPerUnit is unknown/],
      [{ domain: "d", descriptor: "day=a", hits: 0 }, /hits must be a whole number from 1/],
      [{ domain: "d", descriptor: "day=a" }, /hits is missing/],
      [{ domain: "d", descriptor: "list=a", hits: 1 }, /day, yearly/],
      [{ domain: "d", descriptor: "bucket=a", hits: 1_000_000_001 }, /hits must be at most 1000000000/],
    ] as const) {
      const answer = await admin.post("counters/grant", body);
      assert.equal(answer.status, 400, JSON.stringify(answer.json));
      assert.match(answer.json.detail, expected);
    }
    const { overrides } = (await admin.get("overrides")).json;
    assert.deepEqual(
      overrides.map(({ id }: { id: string }) => id),
      ["first"],
    );
    assert.equal((await admin.get("audit")).json.changes.length, 1);
    assert.equal((await admin.delete("overrides/first")).status, 200);
  });

  test("a request's own limit wins over an override", async () => {
    const { admin, tollgate } = replicas.one;
    await admin.put("overrides/x", { domain: "d", descriptor: "day=a", requestsPerUnit: 100 });
    const caller = new GrpcCaller(tollgate.grpc);
    const own = descriptor("day=a", { limit: { requestsPerUnit: 7, unit: 4 } });
    const { statuses } = await caller.ask(request("d", own));
    assert.equal(statuses[0]!.currentLimit?.requestsPerUnit, 7);
    caller.close();
    assert.equal((await admin.delete("overrides/x")).status, 200);
  });

  test("the number of overrides is bounded", async () => {
    const { admin, tollgate } = replicas.one;
    const set = (index: number) =>
      admin.put(`overrides/o${index}`, { domain: "d", descriptor: `day=${index}`, requestsPerUnit: 5 });
    for (let index = 0; index < 1000; index += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, offset) => set(index + offset)));
      for (const [offset, { status }] of answers.entries())
        if (status !== 200) assert.equal((await set(index + offset)).status, 200);
    }
    const answer = await set(1000);
    assert.equal(answer.status, 409);
    assert.match(answer.json.detail, /1000 overrides and grants already/);
    // The store keeps the last 1,000 changes.
    const { changes } = (await admin.get("audit?limit=1000")).json;
    assert.equal(changes.length, 1000);
    assert.ok(tollgate.log.filter((line) => line.includes("audit: ")).length > 1000);
    assert.deepEqual(await replicas.one.limits("day=999"), new Set([5]));
    assert.deepEqual(await replicas.one.limits("day=1000"), new Set([4]));
  });
});

test("memcached keeps no overrides, and the answer says so", async () => {
  const store = await memcached();
  const tollgate = await startTollgate({
    config: {
      "d.yaml": "domain: d\ndescriptors: [{ key: day, rate_limit: { unit: day, requests_per_unit: 4 } }]\n",
    },
    env: { ...adminEnv, ...store.env },
  });
  try {
    const admin = new AdminClient(tollgate, BOB);
    const target = { domain: "d", descriptor: "day=a" };
    for (const answer of [
      await admin.put("overrides/x", { ...target, requestsPerUnit: 9 }),
      await admin.post("counters/grant", { ...target, hits: 9 }),
      await admin.get("overrides"),
      await admin.delete("overrides/x"),
    ]) {
      assert.equal(answer.status, 501, JSON.stringify(answer.json));
      assert.match(answer.json.detail, /memcached may drop entries at any time/);
    }
  } finally {
    await tollgate.stop();
    await store.stop();
  }
});
