import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { runExplain } from "./explain.ts";

const cwd = mkdtempSync(join(tmpdir(), "tollgate-explain-"));
after(() => rmSync(cwd, { recursive: true }));

writeFileSync(
  join(cwd, "rules.yaml"),
  `domain: d
descriptors:
  - key: ip
    rate_limit: { unit: hour, requests_per_unit: 5, name: ip }
  - key: plan
    value: "pro*"
    share_threshold: true
    rate_limit: { unit: minute, requests_per_unit: 9, replaces: [{ name: ip }] }
  - key: free
    rate_limit: { unlimited: true }
`,
);
writeFileSync(join(cwd, "bad.yaml"), "domain: d\ndescriptors:\n  - ky: a\n");

async function explain(argv: readonly string[]): Promise<{ status: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const io = {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
    env: {},
    cwd,
  };
  const status = await runExplain(argv, io, Date.UTC(2026, 0, 2, 3, 4, 5));
  return { status, out, err };
}

test("explain shows the rule, the cache key, the window and the metric key of a descriptor", async () => {
  const { status, out, err } = await explain(
    "--config rules.yaml --domain d --descriptors ip=1.2.3.4".split(" "),
  );
  assert.deepEqual([status, err], [0, ""]);
  assert.equal(
    out,
    `domain     d
descriptor ip=1.2.3.4
  level 1: ip=1.2.3.4
    yes  ip  a rule without \`value\` matches every value  (rules.yaml:3:5)
result     limited by the rule in rules.yaml:3:5
rule       d.ip: unit=HOUR requests_per_unit=5, shadow_mode: false, quota_mode: false, name: ip
metric key d.ip
cache key  d|ip=1.2.3.4|hour:1767322800
window     HOUR 2026-01-02T03:00:00Z to 2026-01-02T04:00:00Z, ends in 3355 s
hits       1
`,
  );
});

test("explain marks a replaced limit", async () => {
  const { out } = await explain(
    "-config=. -domain d -descriptors ip=1 -descriptors plan=pro2 -hits 0".split(" "),
  );
  // The directory also contains an invalid file.
  assert.equal(out, "");
  const single = await explain(
    "-config rules.yaml -domain d -descriptors ip=1 -descriptors plan=pro2 -hits 0".split(" "),
  );
  const [first, second] = single.out.split("\n\n");
  assert.match(first!, /replaced {3}another matching rule of this request replaces it: not counted$/);
  assert.match(second!, /cache key {2}d\|plan=pro\*\|minute:1767323040\n/);
  assert.match(second!, /hits {7}0 \(reads without counting\)\n$/);
});

test("unlimited and missing rules have neither cache key nor window", async () => {
  for (const request of ["free=1", "none=1"]) {
    const { out, status } = await explain([
      "--config",
      "rules.yaml",
      "--domain",
      "d",
      "--descriptors",
      request,
    ]);
    assert.equal(status, 0);
    assert.doesNotMatch(out, /cache key|window/);
  }
});

test("--json shows the same explanation", async () => {
  const words = "--config rules.yaml --domain d --descriptors ip=1 --hits 3 --cache-key-prefix p: --json";
  const { out } = await explain(words.split(" "));
  const { domain, descriptors } = JSON.parse(out);
  assert.equal(domain, "d");
  const [one] = descriptors;
  assert.equal(one.outcome, "limited");
  assert.equal(one.metricKey, "d.ip");
  assert.equal(one.hits, 3);
  assert.equal(one.replaced, false);
  assert.equal(one.cacheKey, "p:d|ip=1|hour:1767322800");
  assert.deepEqual(one.window, { unit: "HOUR", start: 1767322800, end: 1767326400, secondsUntilReset: 3355 });
  assert.equal(one.levels[0].tried[0].result, "matched");
});

test("--use_calendar_month_rate_limit and --backend_type load the rules as the service does", async () => {
  const rules =
    "domain: d\ndescriptors:\n  - { key: k, rate_limit: { unit: month, requests_per_unit: 1 } }\n";
  writeFileSync(join(cwd, "month.yaml"), rules);
  const words = "--config month.yaml --domain d --descriptors k=1".split(" ");
  assert.match((await explain(words)).out, /cache key {2}d\|k=1\|month:1765/);
  const { out } = await explain([...words, "--use_calendar_month_rate_limit"]);
  assert.match(
    out,
    /cache key d\|k=1\|calendar:month:UTC:1767225600, window 2026-01-01T00:00:00Z to 2026-02-01/,
  );
  writeFileSync(
    join(cwd, "bucket.yaml"),
    rules.replace("requests_per_unit: 1", "requests_per_unit: 1, algorithm: token_bucket"),
  );
  const bucket = "--config bucket.yaml --domain d --descriptors k=1".split(" ");
  assert.equal((await explain([...bucket, "--backend_type", "redis"])).status, 0);
  const refused = await explain([...bucket, "--backend_type", "memcache"]);
  assert.equal(refused.status, 1);
  assert.match(refused.err, /`token_bucket` is not available: the object cache/);
});

test("--backend-type determines which cache keys are hashed", async () => {
  for (const [backend, longest] of [
    ["embedded", 100_000],
    ["kvstore", 512],
    ["objcache", 250],
  ] as const)
    for (const length of [200, 400, 600]) {
      const words = `--config rules.yaml --domain d --backend-type ${backend} --descriptors ip=${"x".repeat(length)}`;
      const { out } = await explain([...words.split(" "), "--json"]);
      const [{ cacheKey }] = JSON.parse(out).descriptors;
      if (length < longest) assert.equal(cacheKey, `d|ip=${"x".repeat(length)}|hour:1767322800`);
      else assert.match(cacheKey, /^#[0-9a-f]{32}:hour:1767322800$/);
    }
});

test("\\, is a comma inside a value", async () => {
  const { out } = await explain(["--config", "rules.yaml", "--domain", "d", "--descriptors", "ip=a\\,b=c"]);
  assert.match(out, /level 1: ip=a,b=c\n/);
});

/** arguments | exit status | pattern of standard error */
const faults: readonly (readonly [string, number, RegExp])[] = [
  ["--config bad.yaml --domain d --descriptors a=b", 1, /^bad\.yaml:3:5: unknown key `ky` in a descriptor/],
  ["--config absent --domain d --descriptors a=b", 2, /absent: no such file or directory/],
  ["--domain d --descriptors a=b", 2, /-config is missing/],
  ["--config rules.yaml --descriptors a=b", 2, /-domain is missing/],
  ["--config rules.yaml --domain d", 2, /-descriptors is missing/],
  ["--config rules.yaml --domain d --descriptors a", 2, /"a" is not a key=value pair/],
  ["--config rules.yaml --domain d --descriptors a=b --hits -1", 2, /hits/],
  ["--config rules.yaml --domain d --descriptors a=b --hits 1.5", 2, /-hits 1\.5: must be a whole number/],
  ["--config rules.yaml --domain d --descriptors a=b extra", 2, /extra/],
  [
    "--config rules.yaml --domain d --descriptors a=b --backend-type redes",
    2,
    /must be one of embedded, kvstore, redis, objcache, memcache/,
  ],
];
for (const [words, status, message] of faults) {
  test(`tollgate explain ${words}: exit status ${status}`, async () => {
    const outcome = await explain(words.split(" "));
    assert.equal(outcome.out, "");
    assert.match(outcome.err, message);
    assert.equal(outcome.status, status);
  });
}

test("--help prints the usage", async () => {
  const { status, out } = await explain(["--help"]);
  assert.equal(status, 0);
  assert.match(out, /^usage: tollgate explain /);
});

test("--cache-key-format selects the key of the Go service", async () => {
  const words = "--config rules.yaml --domain d --descriptors ip=1 --backend-type kvstore";
  const keyOf = async (more: string) => {
    const { out } = await explain([...words.split(" "), ...more.split(" "), "--json"]);
    return JSON.parse(out).descriptors[0].cacheKey;
  };
  assert.equal(await keyOf("--cache-key-format compatible"), "d_ip_1_1767322800");
  assert.equal(await keyOf("--cache_key_format=tollgate"), "d|ip=1|hour:1767322800");
  const wrong = await explain([...words.split(" "), "--cache-key-format", "go"]);
  assert.equal(wrong.status, 2);
  assert.match(wrong.err, /-cache_key_format go: must be tollgate or compatible/);
});
