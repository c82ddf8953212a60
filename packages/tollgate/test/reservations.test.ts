/** Reserve and Commit, CheckRateLimit and Report over both protocols of one process, embedded. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Client, credentials } from "@grpc/grpc-js";
import { Validator } from "@seriousme/openapi-schema-validator";
import { until } from "./counters/kvstore-support.ts";
import { grpcReservations, httpReservations, type ReservationCaller } from "./reservation-caller.ts";
import { type RunningTollgate, startTollgate, type TollgateOptions } from "./tollgate.ts";

const rules = `
domain: llm
descriptors:
  - key: tokens
    rate_limit: { unit: day, requests_per_unit: 1000 }
  - key: seen
    rate_limit: { unit: day, requests_per_unit: 1000, reservations: true }
  - key: sliding
    rate_limit: { unit: day, requests_per_unit: 1000, algorithm: sliding_window }
  - key: bucket
    rate_limit: { unit: day, requests_per_unit: 1000, algorithm: token_bucket }
  - key: list
    rate_limits:
      - { unit: day, requests_per_unit: 1000 }
      - { unit: year, requests_per_unit: 400, name: yearly }
  - key: small
    rate_limit: { unit: day, requests_per_unit: 3 }
  - key: none
    rate_limit: { unit: day, requests_per_unit: 0 }
  - key: unlimited
    rate_limit: { unlimited: true }
  - key: shadow
    shadow_mode: true
    rate_limit: { unit: day, requests_per_unit: 1000 }
  - key: wide
    rate_limit: { unit: day, requests_per_unit: 9007199254740991 }
`;

async function running(
  body: (service: RunningTollgate, callers: Record<"grpc" | "http", ReservationCaller>) => Promise<void>,
  options: TollgateOptions = {},
): Promise<void> {
  const service = await startTollgate({ config: { "llm.yaml": rules }, ...options });
  const grpc = grpcReservations(service.grpc);
  try {
    await body(service, { grpc, http: httpReservations(service.http) });
  } finally {
    grpc.close();
    await service.stop();
  }
}

const statistic = async ({ debug }: RunningTollgate, name: string) => {
  const page = await (
    await fetch(`http://${debug}/stats?filter=${encodeURIComponent(`\\.${name}$`)}`)
  ).text();
  return page === "" ? undefined : Number(/: (-?\d+)\n/.exec(page)?.[1]);
};

describe("Reserve and Commit", () => {
  test("the same calls over gRPC and HTTP, for each algorithm", () =>
    running(async (service, callers) => {
      for (const [name, caller] of Object.entries(callers))
        for (const key of ["tokens", "seen", "sliding", "bucket"]) {
          const target = `${key}=${name}`;
          assert.equal(await caller.check(target, 1000), "OK 1000");
          const first = await caller.reserve(target, 200);
          assert.equal(first.code, "OK");
          assert.match(first.id, /^[0-9a-f]{40}$/);
          assert.equal(first.reserved, 200);
          // At most a quarter of the limit.
          const second = await caller.reserve(target, 900);
          assert.equal(second.reserved, 250);
          assert.equal(await caller.check(target), "OK 550");
          assert.equal(await caller.check(target, 551), "OVER_LIMIT 0");
          assert.equal(await caller.report(target, 400), "OK 150");
          assert.deepEqual(await caller.reserve(target, 151), { code: "OVER_LIMIT", id: "", reserved: 0 });
          assert.equal(await caller.commit(target, first.id, 50), true);
          assert.equal(await caller.check(target), "OK 300");
          assert.equal(await caller.commit(target, second.id, 500), true);
          assert.equal(await caller.check(target), "OK 50");
          assert.equal(await caller.commit(target, second.id, 500), false, "a second commit");
          assert.equal(await caller.check(target), "OK 50");
          // An unknown reservation is a report, once.
          assert.equal(await caller.commit(target, "unknown", 20), false);
          assert.equal(await caller.commit(target, "unknown", 20), false);
          assert.equal(await caller.check(target), "OK 30");
          // Also beyond the limit.
          assert.equal(await caller.commit(target, "", 40), false);
          assert.equal(await caller.check(target), "OVER_LIMIT 0");
        }
      const figures = ["reserved", "released", "expired", "committed", "held", "total_hits", "over_limit"];
      const found = await Promise.all(figures.map((name) => statistic(service, `llm\\.tokens\\.${name}`)));
      // Twice: 450 reserved and released, 610 committed; 151 refused; 1010 charged, 10 of them over the limit.
      assert.deepEqual(found, [900, 900, 0, 1220, 0, 2 * (400 + 610 + 151), 2 * (151 + 10)]);
    }));

  test("ShouldRateLimit sees holds where the rule says so", () =>
    running(async ({ http }, { grpc }) => {
      const ask = async (key: string, hits: number) => {
        const body = { domain: "llm", descriptors: [{ entries: [{ key, value: "a" }], hitsAddend: hits }] };
        const response = await fetch(`http://${http}/json`, { method: "POST", body: JSON.stringify(body) });
        const { statuses } = (await response.json()) as { statuses: { limitRemaining?: number }[] };
        return `${response.status} ${statuses[0]!.limitRemaining ?? 0}`;
      };
      for (const [key, left] of [
        ["tokens", 900],
        ["seen", 650],
      ] as const) {
        const { id } = await grpc.reserve(`${key}=a`, 250);
        assert.equal(await ask(key, 100), `200 ${left}`);
        assert.equal(await ask(key, 0), `200 ${left}`);
        await grpc.commit(`${key}=a`, id, 0);
        assert.equal(await ask(key, 0), "200 900");
      }
    }));

  test("several descriptors and lists are held all or nothing, by the smallest limit", () =>
    running(async (_, { grpc }) => {
      const both = ["list=a", "tokens=a"];
      const first = await grpc.reserve(both, 5000);
      assert.equal(first.reserved, 100);
      assert.equal(await grpc.check("tokens=a"), "OK 900");
      assert.equal(await grpc.check("list=a"), "OK 300");
      await grpc.report("list=a", 250);
      assert.equal((await grpc.reserve(both, 100)).code, "OVER_LIMIT");
      assert.equal(await grpc.check("tokens=a"), "OK 900");
      // With other descriptors the id is unknown.
      assert.equal(await grpc.commit("tokens=a", first.id, 1), false);
      assert.equal(await grpc.check("tokens=a"), "OK 899");
      assert.equal(await grpc.commit(both, first.id, 10), true);
      assert.equal(await grpc.check("tokens=a"), "OK 989");
      assert.equal(await grpc.check("list=a"), "OK 140");
    }));

  test("no limit, shadow mode and small limits", () =>
    running(async (service, { grpc }) => {
      for (const target of ["unlimited=a", "unknown=a"]) {
        const { code, id, reserved } = await grpc.reserve(target, 7);
        assert.deepEqual([code, id.length, reserved], ["OK", 40, 7]);
        assert.equal(await grpc.commit(target, id, 9), true);
      }
      // A first reservation above a small limit holds one.
      assert.equal((await grpc.reserve("small=a", 5000)).reserved, 1);
      assert.equal((await grpc.reserve("none=a", 1)).code, "OVER_LIMIT");
      for (let call = 0; call < 5; call++) {
        const { code, id, reserved } = await grpc.reserve("shadow=a", 300);
        assert.deepEqual([code, id.length, reserved], ["OK", 40, 250]);
      }
      assert.equal(await statistic(service, "llm\\.shadow\\.shadow_mode"), 250);
      assert.equal(await statistic(service, "llm\\.shadow\\.held"), 1000);
    }));

  test("amounts beyond 2^32", () =>
    running(async (_, { grpc, http }) => {
      const amount = 2 ** 51;
      const { id, reserved } = await grpc.reserve("wide=a", amount);
      assert.equal(reserved, 2 ** 51 - 1);
      assert.equal(await http.commit("wide=a", id, 2 ** 52), true);
      assert.equal((await http.reserve("wide=a", 2 ** 40)).reserved, 2 ** 40);
      const deep = await grpc.commit("bucket=a", "", 2 ** 33);
      assert.equal(deep, false);
      assert.equal(await grpc.check("bucket=a"), "OVER_LIMIT 0");
    }));

  test("a report counts one hit if the request says nothing, and none if a descriptor says 0", () =>
    running(async ({ http }, { grpc }) => {
      const report = async (request: object, descriptor: object) => {
        const descriptors = [{ entries: [{ key: "tokens", value: "a" }], ...descriptor }];
        const body = JSON.stringify({ domain: "llm", descriptors, ...request });
        assert.equal((await fetch(`http://${http}/v1/report`, { method: "POST", body })).status, 200);
        return grpc.check("tokens=a");
      };
      assert.equal(await report({}, {}), "OK 999");
      assert.equal(await report({ hitsAddend: 0 }, {}), "OK 998");
      assert.equal(await report({ hitsAddend: 3 }, {}), "OK 995");
      assert.equal(await report({ hitsAddend: 3 }, { hitsAddend: 0 }), "OK 995");
      assert.equal(await grpc.report("tokens=a", 0), "OK 995");
    }));

  test("an id belongs to its domain", () =>
    running(
      async ({ grpc }) => {
        const [one, other] = [grpcReservations(grpc), grpcReservations(grpc, "other")];
        const { id } = await one.reserve("tokens=a", 20);
        assert.equal(await other.commit("tokens=a", id, 5), false);
        assert.equal(await one.check("tokens=a"), "OK 980");
        assert.equal(await one.commit("tokens=a", id, 5), true);
        one.close();
        other.close();
      },
      { config: { "llm.yaml": rules, "other.yaml": rules.replace("domain: llm", "domain: other") } },
    ));

  test("RESERVATION_MAX_FRACTION is the largest share of a limit that one reservation holds", () =>
    running(
      async (_, { grpc, http }) => {
        assert.equal((await grpc.reserve("tokens=a", 900)).reserved, 500);
        assert.equal((await http.reserve("list=a", 900)).reserved, 200);
        assert.equal((await grpc.reserve("small=a", 900)).reserved, 1);
      },
      { env: { RESERVATION_MAX_FRACTION: "0.5" } },
    ));

  test("over HTTP a refused check and a refused reserve are 429, a report and a commit above the limit are 200", () =>
    running(async ({ http }) => {
      const at = { domain: "llm", descriptors: [{ entries: [{ key: "small", value: "a" }] }] };
      const calls: [method: string, body: object, status: number, answer: object][] = [
        ["reserve", { amount: 1 }, 200, { code: "OK", reservedAmount: "1" }],
        ["report", { hits_addend: 5 }, 200, { overallCode: "OK" }],
        ["commit", { reservation_id: "x", actual_amount: 7 }, 200, { reservationReleased: false }],
        ["check", {}, 429, { overallCode: "OVER_LIMIT" }],
        ["reserve", { amount: "1", ttl: "1.5s" }, 429, { code: "OVER_LIMIT" }],
      ];
      for (const [method, fields, status, expected] of calls) {
        const body = JSON.stringify({ ...at, ...fields });
        const response = await fetch(`http://${http}/v1/${method}`, { method: "POST", body });
        assert.equal(response.status, status, method);
        assert.partialDeepStrictEqual(await response.json(), expected);
      }
    }));

  test("RESERVATION_TTL ends a reservation without a ttl", () =>
    running(
      async (_, { grpc }) => {
        const { id } = await grpc.reserve("tokens=a", 250);
        await until("the reservation has ended", async () => (await grpc.check("tokens=a")) === "OK 1000");
        assert.equal(await grpc.commit("tokens=a", id, 30), false);
      },
      { env: { RESERVATION_TTL: "50ms" } },
    ));

  test("a reservation ends by itself, and later commits count", () =>
    running(async (service, { grpc }) => {
      const { id } = await grpc.reserve("tokens=a", 250, 40);
      while ((await grpc.check("tokens=a")) !== "OK 1000") await new Promise(setImmediate);
      assert.equal(await statistic(service, "llm\\.tokens\\.expired"), 250);
      assert.equal(await statistic(service, "llm\\.tokens\\.held"), 0);
      assert.equal(await grpc.commit("tokens=a", id, 30), false);
      assert.equal(await grpc.check("tokens=a"), "OK 970");
    }));

  test("the gauge of held hits counts the holds that a snapshot has restored", async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "tollgate-held-"));
    t.after(() => rm(folder, { recursive: true }));
    const env = { EMBEDDED_STORE_SNAPSHOT: join(folder, "counters"), WORKERS: "2" };
    const ids: string[] = [];
    await running(
      async (_, { grpc, http }) => {
        for (const key of ["tokens", "list"]) ids.push((await grpc.reserve(`${key}=a`, 100)).id);
        await http.reserve("tokens=a", 30, 1000);
        await http.reserve("tokens=b", 5);
      },
      { env },
    );
    await running(
      async (service, { grpc, http }) => {
        const held = (key: string) => statistic(service, `llm\\.${key}\\.held`);
        assert.equal(await held("tokens"), undefined, "no call has read a counter");
        assert.equal(await http.commit("list=a", ids[1]!, 10), true);
        assert.equal(await held("list"), 0);
        assert.equal((await grpc.reserve("tokens=a", 7)).code, "OK");
        await until("the hold with a short time to live has ended", async () => {
          await http.check("tokens=a");
          return (await held("tokens")) === 107;
        });
        assert.equal(await http.commit("tokens=a", ids[0]!, 10), true);
        assert.equal(await held("tokens"), 7);
        await http.check("tokens=b");
        assert.equal(await held("tokens"), 12);
      },
      { env },
    );
  });

  test("a counter has a bounded number of reservations", () =>
    running(
      async (service, { grpc, http }) => {
        for (let call = 0; call < 3; call++) await grpc.reserve("tokens=a", 1);
        await assert.rejects(grpc.reserve("tokens=a", 1), { code: 8, details: /RESERVATION_MAX_HOLDS is 3/ });
        const body = {
          domain: "llm",
          amount: 1,
          descriptors: [{ entries: [{ key: "tokens", value: "a" }] }],
        };
        const answer = await fetch(`http://${service.http}/v1/reserve`, {
          method: "POST",
          body: JSON.stringify(body),
        });
        assert.equal(answer.status, 429);
        assert.match(((await answer.json()) as { detail: string }).detail, /RESERVATION_MAX_HOLDS is 3/);
        assert.equal((await http.reserve("tokens=b", 1)).code, "OK");
      },
      { env: { RESERVATION_MAX_HOLDS: "3" } },
    ));

  test("threads share holds and commits", () =>
    running(
      async (service) => {
        const callers = Array.from({ length: 8 }, () => grpcReservations(service.grpc));
        const http = httpReservations(service.http);
        const reserved = await Promise.all(
          Array.from({ length: 40 }, (_, index) => callers[index % 8]!.reserve("tokens=a", 30)),
        );
        const held = reserved.filter(({ code }) => code === "OK");
        assert.equal(held.length, 33);
        assert.equal(await http.check("tokens=a"), "OK 10");
        const commits = await Promise.all(
          [...held, ...held].map(({ id }, index) => callers[(index + 3) % 8]!.commit("tokens=a", id, 10)),
        );
        assert.equal(commits.filter((released) => released).length, 33);
        assert.equal(await http.check("tokens=a"), "OK 670");
        assert.equal(await statistic(service, "llm\\.tokens\\.committed"), 330);
        assert.equal(await statistic(service, "llm\\.tokens\\.held"), 0);
        for (const caller of callers) caller.close();
      },
      { env: { WORKERS: "3" } },
    ));
});

test("the OpenAPI document of the HTTP port is valid, and names its paths", () =>
  running(async ({ http }) => {
    const document = (await (await fetch(`http://${http}/openapi.json`)).json()) as { paths: object };
    const { valid, errors } = await new Validator().validate(document);
    assert.ok(valid, JSON.stringify(errors));
    const paths = ["/json", "/v1/check", "/v1/report", "/v1/reserve", "/v1/commit", "/healthcheck"];
    assert.deepEqual(Object.keys(document.paths), paths);
  }));

describe("bad input", () => {
  const body = (fields: object) => ({
    domain: "llm",
    descriptors: [{ entries: [{ key: "tokens" }] }],
    ...fields,
  });
  const faults: [name: string, method: string, body: unknown, message: RegExp][] = [
    ["no amount", "reserve", body({}), /^amount is missing or 0/],
    ["an amount of 0", "reserve", body({ amount: 0 }), /^amount is missing or 0/],
    ["a negative amount", "reserve", body({ amount: -1 }), /^amount: must be a whole number, not -1/],
    ["a fraction", "reserve", body({ amount: 1.5 }), /^amount: must be a whole number/],
    [
      "an amount above 2^53 - 1",
      "reserve",
      body({ amount: "9007199254740992" }),
      /^amount must be at most 9007199254740991/,
    ],
    ["a ttl of 0", "reserve", body({ amount: 1, ttl: "0s" }), /^ttl must be a positive duration/],
    ["a negative ttl", "reserve", body({ amount: 1, ttl: "-5s" }), /^ttl must be a positive duration/],
    [
      "a ttl without a unit",
      "reserve",
      body({ amount: 1, ttl: 10 }),
      /^ttl: must be a number of seconds such as "10s"/,
    ],
    [
      "an unknown field",
      "reserve",
      body({ amount: 1, tll: "1s" }),
      /^tll: is an unknown field; the fields are domain, descriptors, amount, ttl/,
    ],
    ["no domain", "reserve", { ...body({ amount: 1 }), domain: "" }, /domain must not be empty/],
    ["no descriptors", "commit", { domain: "llm" }, /descriptor list must not be empty/],
    [
      "a limit",
      "reserve",
      body({ amount: 1, descriptors: [{ limit: { unit: "DAY" } }] }),
      /^descriptors\[0\]\.limit is not possible here/,
    ],
    [
      "a refund",
      "reserve",
      body({ amount: 1, descriptors: [{ isNegativeHits: true }] }),
      /^descriptors\[0\]\.is_negative_hits is not possible/,
    ],
    ["a negative charge", "commit", body({ actualAmount: -1 }), /^actualAmount: must be a whole number/],
    ["a charge above 2^53 - 1", "commit", body({ actualAmount: 2 ** 53 }), /^actual_amount must be at most/],
    [
      "a long id",
      "commit",
      body({ reservationId: "x".repeat(257) }),
      /^reservationId: must have at most 256 characters/,
    ],
    ["an id twice", "commit", body({ reservationId: "x", reservation_id: "x" }), /present twice/],
    ["no object", "check", [], /must be an object/],
    ["an unknown unit", "report", body({ descriptors: [{ limit: { unit: "EON" } }] }), /must be one of/],
  ];

  test("a faulty request is a problem over HTTP, and changes nothing", () =>
    running(async (service, { grpc }) => {
      for (const [name, method, sent, message] of faults) {
        const response = await fetch(`http://${service.http}/v1/${method}`, {
          method: "POST",
          body: JSON.stringify(sent),
        });
        const problem = (await response.json()) as { status: number; detail: string };
        assert.equal(response.status, 400, name);
        assert.equal(response.headers.get("content-type"), "application/problem+json", name);
        assert.equal(problem.status, 400, name);
        assert.match(problem.detail, message, name);
      }
      assert.equal(await grpc.check("tokens="), "OK 1000");
      const large = await fetch(`http://${service.http}/v1/reserve`, {
        method: "POST",
        body: "x".repeat(300_000),
      });
      assert.equal(large.status, 413);
      assert.equal((await fetch(`http://${service.http}/v1/reserve`)).status, 405);
    }));

  test("a faulty request is a status over gRPC", () =>
    running(async (service) => {
      const client = new Client(service.grpc, credentials.createInsecure());
      const call = (method: string, bytes: number[]) =>
        new Promise((resolve, reject) => {
          const path = `/kuadrant.service.ratelimit.v1.RateLimitService/${method}`;
          const write = () => Buffer.from(bytes);
          client.makeUnaryRequest(
            path,
            write,
            (message: Buffer) => message,
            null,
            (error, answer) => (error === null ? resolve(answer) : reject(error)),
          );
        });
      const domain = [0x0a, 3, 0x6c, 0x6c, 0x6d];
      const some = [...domain, 0x12, 0];
      const cases: [name: string, method: string, bytes: number[], details: RegExp][] = [
        ["nothing", "Reserve", [], /amount|domain/],
        ["no amount", "Reserve", some, /amount is missing or 0/],
        ["2^64 - 1", "Reserve", [...some, 0x18, ...Array(9).fill(0xff), 1], /amount must be at most/],
        ["a ttl of 0", "Reserve", [...some, 0x18, 1, 0x22, 0], /ttl must be a positive duration/],
        [
          "a negative ttl",
          "Reserve",
          [...some, 0x18, 1, 0x22, 11, 8, ...Array(9).fill(0xff), 1],
          /ttl must be a positive duration/,
        ],
        [
          "a limit",
          "Reserve",
          [...domain, 0x12, 2, 0x12, 0, 0x18, 1],
          /descriptors\[0\]\.limit is not possible/,
        ],
        ["a refund", "Reserve", [...domain, 0x12, 2, 0x20, 1, 0x18, 1], /is_negative_hits is not possible/],
        [
          "2^64 - 1 charged",
          "Commit",
          [...some, 0x20, ...Array(9).fill(0xff), 1],
          /actual_amount must be at most/,
        ],
        ["a long id", "Commit", [...some, 0x1a, 0x81, 2, ...Array(257).fill(0x78)], /longer than 256 bytes/],
        ["half a message", "Commit", [0x12, 5], /longer than its message/],
        ["half a number", "Report", [...some, 0x18, 0x80], /ends inside a number/],
      ];
      for (const [name, method, bytes, details] of cases)
        await assert.rejects(call(method, bytes), { code: 3, details }, name);
      client.close();
    }));
});
