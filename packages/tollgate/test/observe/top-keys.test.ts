import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type RunningTollgate, startTollgate } from "../tollgate.ts";

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
