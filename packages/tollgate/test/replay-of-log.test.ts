/** The log of a real service, replayed: its own rules change nothing, and other rules change what they should. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { runReplay } from "../src/commands/replay.ts";
import { startTollgate } from "./tollgate.ts";

const rules = `domain: d
descriptors:
  - { key: plain, rate_limit: { unit: day, requests_per_unit: 3 } }
  - { key: sliding, rate_limit: { unit: hour, requests_per_unit: 4, algorithm: sliding_window } }
  - { key: bucket, rate_limit: { unit: hour, requests_per_unit: 9, burst: 2, algorithm: token_bucket } }
  - { key: list, rate_limits: [{ unit: day, requests_per_unit: 5 }, { unit: hour, requests_per_unit: 3 }] }
  - { key: accepted, rate_limit: { unit: day, requests_per_unit: 4, count: accepted, name: small } }
  - { key: replacing, rate_limit: { unit: day, requests_per_unit: 2, replaces: [{ name: small }] } }
  - { key: shadow, shadow_mode: true, rate_limit: { unit: day, requests_per_unit: 1 } }
  - { key: free, rate_limit: { unlimited: true } }
`;

const entry = (key: string, value = "v") => ({ entries: [{ key, value }] });
const KEYS = ["plain", "sliding", "bucket", "list", "accepted", "shadow", "free", "unknown"];
/** Each key alone, pairs, a refund, and limits of the requests' own. */
const requests = [
  ...KEYS.map((key) => [entry(key)]),
  [entry("plain", "a"), entry("list", "a")],
  [entry("accepted"), entry("replacing")],
  [{ ...entry("plain", "a"), hitsAddend: "1", isNegativeHits: true }],
  [{ ...entry("plain"), limit: { requestsPerUnit: 2, unit: "HOUR" } }],
];
const ROUNDS = 8;
const DECISIONS = ROUNDS * requests.flat().length;

describe("the log of a service, replayed", () => {
  const cwd = mkdtempSync(join(tmpdir(), "tollgate-replay-log-"));
  after(() => rmSync(cwd, { recursive: true }));

  before(async () => {
    const env = { DECISION_LOG: join(cwd, "log"), DECISION_LOG_SAMPLE: "1", WORKERS: "1" };
    const tollgate = await startTollgate({ config: { "d.yaml": rules }, env });
    try {
      for (let round = 0; round < ROUNDS; round++)
        for (const descriptors of requests) {
          const body = JSON.stringify({ domain: "d", descriptors });
          const response = await fetch(`http://${tollgate.http}/json`, { method: "POST", body });
          assert.ok([200, 429].includes(response.status), await response.text());
        }
    } finally {
      assert.equal((await tollgate.stop()).code, 0, tollgate.log.join("\n"));
    }
  });

  async function replay(candidate: string, log = "log") {
    writeFileSync(join(cwd, "d.yaml"), candidate);
    let [out, err] = ["", ""];
    await runReplay([log, "--config", "d.yaml", "--json"], {
      stdout: { write: (text) => (out += text) },
      stderr: { write: (text) => (err += text) },
      env: {},
      cwd,
    });
    assert.equal(err, "");
    return JSON.parse(out);
  }

  test("a replay with the same rules changes no decision", async () => {
    const { sums, damaged, decisions, rules: rows } = await replay(rules);
    assert.deepEqual(damaged, { lines: 0, first: [] });
    assert.equal(decisions, DECISIONS);
    assert.deepEqual([sums.newly_refused, sums.newly_pass], [0, 0], JSON.stringify(rows));
    assert.ok(sums.refused_now > ROUNDS && sums.refused_now === sums.refused_before);
    for (const { before: old, now } of rows) assert.equal(old, now);
  });

  test("a replay with other rules changes the decisions of the changed rules only", async () => {
    const candidate = rules
      .replace(
        "key: plain, rate_limit: { unit: day, requests_per_unit: 3 }",
        "key: plain, rate_limit: { unit: day, requests_per_unit: 1 }",
      )
      .replace("shadow_mode: true, ", "");
    const { rules: rows } = await replay(candidate);
    const newlyRefused = Object.fromEntries(
      rows
        .filter((row: { newly_refused: number }) => row.newly_refused > 0)
        .map((row: { now: string; newly_refused: number }) => [row.now, row.newly_refused]),
    );
    // Of value v 2 more. Of value a none: each hit is refunded.
    assert.deepEqual(newlyRefused, { "d.plain": 2, "d.shadow": ROUNDS - 1 });
  });

  test("a replay from any line on knows the earlier hits of plain windows", async () => {
    const lines = readFileSync(join(cwd, "log"), "utf8").trim().split("\n");
    for (const from of [1, 20, 50]) {
      writeFileSync(join(cwd, "rest"), lines.slice(from).join("\n"));
      const { rules: rows } = await replay(rules, "rest");
      const plain = rows.find(({ now }: { now: string }) => now === "d.plain");
      assert.ok(plain.refused_before > 0);
      assert.deepEqual([plain.newly_refused, plain.newly_pass], [0, 0], `from line ${from}`);
    }
  });
});
