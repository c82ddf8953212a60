import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { descriptor, GrpcCaller, request } from "../grpc-caller.ts";
import { type RunningTollgate, startTollgate } from "../tollgate.ts";
import { parseExposition } from "./exposition-parser.ts";

const config = {
  "shop.yaml": `domain: shop
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: 3 }
  - key: tenant
    descriptors:
      - key: address
        rate_limit: { unit: day, requests_per_unit: 100 }
  - key: path
    value: /api/*
    share_threshold: true
    rate_limit: { unit: day, requests_per_unit: 100 }
`,
};

async function ask(tollgate: RunningTollgate, times: number, ...entries: [string, string][]): Promise<void> {
  const body = JSON.stringify({
    domain: "shop",
    descriptors: [{ entries: entries.map(([key, value]) => ({ key, value })) }],
  });
  for (let time = 0; time < times; time++)
    await fetch(`http://${tollgate.http}/json`, { method: "POST", body });
}

async function top(tollgate: RunningTollgate, query = "", accept = "text/plain"): Promise<string> {
  const response = await fetch(`http://${tollgate.debug}/stats/top${query}`, { headers: { accept } });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return text;
}

async function withTollgate(env: Record<string, string>, use: (tollgate: RunningTollgate) => Promise<void>) {
  const tollgate = await startTollgate({ config, env });
  try {
    await use(tollgate);
  } finally {
    await tollgate.stop();
  }
}

describe("GET /stats/top", () => {
  test("lists the keys of each rule, and the refused ones of all rules", () =>
    withTollgate({}, async (tollgate) => {
      assert.match(await top(tollgate), /^hits of the last \d+ s; .*\n\nno rule has hits\n$/);
      await ask(tollgate, 5, ["user", "alice"]);
      await ask(tollgate, 2, ["user", "bob"]);
      await ask(tollgate, 1, ["tenant", "a,b"], ["address", "192.0.2.1"]);
      await ask(tollgate, 1, ["path", "/api/a"]);
      await ask(tollgate, 1, ["path", "/api/b"]);
      const text = await top(tollgate);
      assert.equal(
        text.slice(text.indexOf("\n") + 1),
        `
most refused
  2  user=alice  shop.user

shop.user (shop.yaml:3): 7 hits, 2 refused
  5  user=alice
  2  user=bob

shop.path_/api/* (shop.yaml:9): 2 hits, 0 refused
  2  path=/api/*

shop.tenant.address (shop.yaml:7): 1 hits, 0 refused
  1  tenant="a,b",address=192.0.2.1
`,
      );
      const json = JSON.parse(await top(tollgate, "?n=1&rule=shop.user", "application/json"));
      assert.deepEqual(json.rules, [
        {
          rule: "shop.user",
          file: "shop.yaml:3",
          hits: 7,
          refused: 2,
          keys: [{ entries: [["user", "alice"]], hits: 5, error: 0 }],
          refusedKeys: [{ entries: [["user", "alice"]], hits: 2, error: 0 }],
        },
      ]);
      assert.ok(json.to >= json.from && json.to - json.from < 600_000);
      const refused = await top(tollgate, "?refused");
      assert.match(refused, /\n\nmost refused\n {2}2 {2}user=alice {2}shop\.user\n$/);
    }));
});

test("TOP_KEYS=false turns the page off", () =>
  withTollgate({ TOP_KEYS: "false" }, async (tollgate) => {
    await ask(tollgate, 1, ["user", "alice"]);
    const response = await fetch(`http://${tollgate.debug}/stats/top`);
    assert.equal(response.status, 404);
    assert.match(await response.text(), /top keys are turned off: TOP_KEYS is false/);
  }));

test("a caller through a proxy sees no values, except with a token of the admin API", () => {
  const token = "a-token-of-more-than-thirty-two-characters";
  return withTollgate({ ADMIN_PORT: "0", ADMIN_TOKENS: `ops:${token}` }, async (tollgate) => {
    await ask(tollgate, 1, ["user", "alice"]);
    const seen = async (headers: Record<string, string>) => {
      const text = await (await fetch(`http://${tollgate.debug}/stats/top`, { headers })).text();
      return /user=(.*)/.exec(text)![1];
    };
    assert.equal(await seen({}), "alice");
    assert.equal(await seen({ "x-forwarded-for": "198.51.100.1" }), "*****");
    assert.equal(
      await seen({ "x-forwarded-for": "198.51.100.1", authorization: `Bearer ${token}` }),
      "alice",
    );
    assert.equal(await seen({ authorization: "Bearer wrong" }), "*****");
  });
});

test("wrong arguments are refused", () =>
  withTollgate({}, async (tollgate) => {
    for (const query of ["?n=0", "?n=1001", "?n=-1", "?n=x", "?n="])
      assert.equal((await fetch(`http://${tollgate.debug}/stats/top${query}`)).status, 400, query);
  }));

test("the numbers of all threads are added, and a reload keeps them", () =>
  withTollgate({ WORKERS: "2" }, async (tollgate) => {
    const callers = Array.from({ length: 8 }, () => new GrpcCaller(tollgate.grpc));
    try {
      for (const caller of callers) await caller.ask(request("shop", descriptor("user=alice")));
      await ask(tollgate, 1, ["user", "alice"]);
      await writeFile(join(tollgate.config, "more.yaml"), "domain: more\ndescriptors: []\n");
      const rlconfig = () => fetch(`http://${tollgate.debug}/stats?filter=config_load_success`);
      while (!/load_success: 2/.test(await (await rlconfig()).text())) await setTimeout(20);
      for (const caller of callers) await caller.ask(request("shop", descriptor("user=alice")));
      assert.match(
        await top(tollgate, "?rule=shop.user"),
        /shop\.yaml:3\): 17 hits, 14 refused\n {2}17 {2}user=alice\n/,
      );
    } finally {
      for (const caller of callers) caller.close();
    }
  }));

test("TOP_KEYS_METRICS exports so many keys to the pull sink", () =>
  withTollgate(
    {
      DISABLE_STATS: "false",
      USE_PULLSTATS: "true",
      PULLSTATS_ADDR: "127.0.0.1:0",
      TOP_KEYS_METRICS: "2",
      EXTRA_TAGS: "env:test",
    },
    async (tollgate) => {
      const line = await tollgate.logged(/Listening for metrics/);
      const url = `http://${/on '([^']+)'/.exec(line)![1]}/metrics`;
      const scrape = async (accept: string) => (await fetch(url, { headers: { accept } })).text();
      assert.doesNotMatch(await scrape("text/plain"), /ratelimit_top_keys/);
      await ask(tollgate, 5, ["user", 'al"ice']);
      await ask(tollgate, 2, ["user", "bob"]);
      await ask(tollgate, 1, ["user", "carol"]);
      for (const [accept, isOpen] of [
        ["text/plain", false],
        ["application/openmetrics-text; version=1.0.0", true],
      ] as const) {
        const families = parseExposition(await scrape(accept), isOpen);
        const shown = (name: string) =>
          families.get(name)!.samples.map(({ labels, value }) => [Object.entries(labels).join(";"), value]);
        assert.deepEqual(shown("ratelimit_top_keys_hits"), [
          ['rule,shop.user;key,user=al"ice;env,test', 5],
          ["rule,shop.user;key,user=bob;env,test", 2],
        ]);
        assert.deepEqual(shown("ratelimit_top_keys_refused"), [
          ['rule,shop.user;key,user=al"ice;env,test', 2],
        ]);
      }
    },
  ));
