import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { MANUAL } from "../text/manual.ts";
import { runCheck } from "./check.ts";

const cwd = mkdtempSync(join(tmpdir(), "tollgate-check-"));
after(() => rmSync(cwd, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(cwd, path)), { recursive: true });
  writeFileSync(join(cwd, path), text);
}

const limit = "rate_limit: { unit: day, requests_per_unit: 1 }";
write("good/a.yaml", `domain: a\ndescriptors:\n  - { key: k, ${limit} }\n`);
write("good/b.yaml", `domain: b\ndescriptors:\n  - { key: k, ${limit} }\n  - { key: l, ${limit} }\n`);
write("good/README.md", "not a configuration: [");
write("good/nested.yaml/c.yaml", "not read: [");
write("bad/a.yaml", "domain: a\ndescriptors:\n  - key: k\n\trate_limt:\n");
write("bad/b.yaml", "domain: b\ndescriptors:\n  - key: k\n    rate_limt: {}\n");
write(
  "warn/a.yaml",
  `domain: a\ndescriptors:\n  - key: k\n    value: v\n    detailed_metric: true\n    ${limit}\n`,
);
write("twice/a.yaml", `domain: a\ndescriptors:\n  - { key: k, ${limit} }\n`);
write("twice/b.yaml", `domain: a\ndescriptors:\n  - { key: l, ${limit} }\n`);
write("yml/a.yml", "domain: a\n");
write(
  "month/a.yaml",
  "domain: a\ndescriptors:\n  - key: k\n    rate_limits:\n      - { unit: month, requests_per_unit: 1 }\n      - { unit: month, requests_per_unit: 2, calendar: {}, name: b }\n",
);
write(
  "bucket/a.yaml",
  "domain: a\ndescriptors:\n  - key: k\n    rate_limit: { unit: day, requests_per_unit: 1, algorithm: token_bucket }\n",
);
mkdirSync(join(cwd, "empty"));
mkdirSync(join(cwd, "linked"));
symlinkSync(join(cwd, "bad/b.yaml"), join(cwd, "linked/b.yaml"));

interface Outcome {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

async function check(
  argv: readonly string[],
  world: { isTTY?: boolean; env?: Record<string, string> } = {},
): Promise<Outcome> {
  let out = "";
  let err = "";
  const status = await runCheck(argv, {
    stdout: { write: (text) => (out += text), isTTY: world.isTTY },
    stderr: { write: (text) => (err += text) },
    env: world.env ?? {},
    cwd,
  });
  return { status, out, err };
}

/** arguments | exit status | standard output, or its pattern | pattern of standard error */
const runs: readonly (readonly [string, number, string | RegExp, RegExp?])[] = [
  ["good", 0, "2 domains, 3 limits in 2 files: no errors\n"],
  ["-config_dir good", 0, "2 domains, 3 limits in 2 files: no errors\n"],
  ["--config-dir=good", 0, "2 domains, 3 limits in 2 files: no errors\n"],
  ["good good", 0, "4 domains, 6 limits in 4 files: no errors\n"],
  ["good/a.yaml good/b.yaml", 0, "2 domains, 3 limits in 2 files: no errors\n"],
  [
    "good/a.yaml twice/a.yaml",
    1,
    /^twice\/a\.yaml:1:9: the domain "a" is already defined in good\/a\.yaml:1:9/,
  ],
  ["bad", 1, /^bad\/a\.yaml:4:\d+: YAML syntax: .*\nbad\/b\.yaml:4:5: unknown key `rate_limt`/s],
  ["bad good", 1, /2 errors in 4 files\n$/],
  [
    "linked",
    1,
    /^linked\/b\.yaml:4:5: unknown key `rate_limt` in a descriptor: did you mean `rate_limit`\? \[unknown-key\]\n {2}4 \| {5}rate_limt: \{\}\n {4}\| {5}\^\ndocs: https:\/\/\S+\/docs\/rules\.md#unknown-key\n1 error in 1 file\n$/,
  ],
  [
    "warn",
    0,
    /^warn\/a\.yaml:5:22: warning: `detailed_metric` has no effect.*1 domain, 1 limit in 1 file: 1 warning\n$/s,
  ],
  ["-strict warn", 1, /^warn\/a\.yaml:5:22: `detailed_metric` has no effect.*1 error in 1 file\n$/s],
  ["twice", 1, /^twice\/b\.yaml:1:9: the domain "a" is already defined in twice\/a\.yaml:1:9/],
  ["-merge_domain_configs twice", 0, "1 domain, 2 limits in 2 files: no errors\n"],
  ["--merge-domain-configs twice", 0, "1 domain, 2 limits in 2 files: no errors\n"],
  ["-merge_domain_configs=true twice", 0, "1 domain, 2 limits in 2 files: no errors\n"],
  ["-merge_domain_configs=false twice", 1, /defined in/],
  ["month", 0, "1 domain, 1 limit in 1 file: no errors\n"],
  [
    "-use_calendar_month_rate_limit month",
    1,
    /^month\/a\.yaml:6:9: limits 1 and 2 of the list have the same counter "calendar:month:UTC"/,
  ],
  ["bucket", 0, "1 domain, 1 limit in 1 file: no errors\n"],
  ["--backend-type redis bucket", 0, "1 domain, 1 limit in 1 file: no errors\n"],
  [
    "-backend_type memcache bucket",
    1,
    /^bucket\/a\.yaml:4:63: `token_bucket` is not available: the object cache \(BACKEND_TYPE=memcache\) supports fixed windows only \[unsupported-algorithm\]/,
  ],
  ["--backend-type=objcache bucket", 1, /1 error in 1 file\n$/],
  [
    "--backend-type disk good",
    2,
    "",
    /-backend_type disk: must be one of embedded, kvstore, redis, objcache/,
  ],
  ["empty", 0, /^empty: warning: contains no \*\.yaml file: no domain is configured/],
  ["--strict empty", 1, /^empty: contains no \*\.yaml file/],
  ["yml", 0, /^yml\/a\.yml: warning: only \*\.yaml files are read: rename it to a\.yaml/],
  ["--help", 0, /^usage: tollgate check \[flags\] DIR\|FILE\|-\.\.\.\n/],
  ["-h", 0, /^usage:/],
  ["", 2, "", /no configuration given/],
  ["absent", 2, "", /absent: no such file or directory/],
  ["good absent", 2, "", /absent: no such file or directory/],
  ["--format xml good", 2, "", /-format xml: must be one of text, json, sarif, github/],
  ["--bogus good", 2, "", /unknown flag -bogus/],
];

for (const [words, status, out, err] of runs) {
  test(`tollgate check ${words}: exit status ${status}`, async () => {
    const outcome = await check(words === "" ? [] : words.split(" "));
    if (typeof out === "string") assert.equal(outcome.out, out);
    else assert.match(outcome.out, out);
    if (err === undefined) assert.equal(outcome.err, "");
    else assert.match(outcome.err, err);
    assert.equal(outcome.status, status);
  });
}

test("the caret is aligned in a line with a tab", async () => {
  const { out } = await check(["bad/a.yaml"]);
  assert.match(out, /\n {2}4 \| \trate_limt:\n {4}\| \t? *\^\n/);
});

test("the output has colors on a terminal, unless the user disables them", async () => {
  const plain = (await check(["bad"])).out;
  const colored = (await check(["bad"], { isTTY: true })).out;
  assert.notEqual(colored, plain);
  assert.equal(stripVTControlCharacters(colored), plain);
  assert.equal((await check(["bad"], { isTTY: true, env: { NO_COLOR: "1" } })).out, plain);
  assert.equal((await check(["bad"], { isTTY: true, env: { TERM: "dumb" } })).out, plain);
  assert.equal(
    (await check(["--format=json", "bad"], { isTTY: true })).out,
    (await check(["--format=json", "bad"])).out,
  );
});

test("--format json prints counts and diagnostics", async () => {
  const { out, status } = await check(["--format", "json", "linked", "warn", "empty"]);
  assert.equal(status, 1);
  assert.deepEqual(JSON.parse(out), {
    errors: 1,
    warnings: 2,
    files: 2,
    domains: 1,
    rules: 1,
    diagnostics: [
      {
        severity: "error",
        code: "unknown-key",
        file: "linked/b.yaml",
        line: 4,
        column: 5,
        message: "unknown key `rate_limt` in a descriptor: did you mean `rate_limit`?",
        docs: `${MANUAL}rules.md#unknown-key`,
      },
      {
        severity: "warning",
        code: "detailed-metric-on-value",
        file: "warn/a.yaml",
        line: 5,
        column: 22,
        message:
          "`detailed_metric` has no effect on a rule with an explicit `value`: the metric key shows it anyway",
        docs: `${MANUAL}rules.md#detailed-metric-on-value`,
      },
      {
        severity: "warning",
        code: "no-files",
        file: "empty",
        message: "contains no *.yaml file: no domain is configured",
        docs: `${MANUAL}rules.md#no-files`,
      },
    ],
  });
});

test("--format sarif prints results and their rules", async () => {
  const { out, status } = await check(["--format", "sarif", "linked", "warn", "empty"]);
  assert.equal(status, 1);
  const sarif = JSON.parse(out);
  assert.equal(sarif.version, "2.1.0");
  const [run] = sarif.runs;
  assert.equal(run.tool.driver.name, "tollgate");
  assert.deepEqual(
    run.results.map((one: { level: string }) => one.level),
    ["error", "warning", "warning"],
  );
  for (const { ruleId, ruleIndex } of run.results) assert.equal(run.tool.driver.rules[ruleIndex].id, ruleId);
  for (const { id, shortDescription, helpUri } of run.tool.driver.rules) {
    assert.ok(shortDescription.text.length > 0);
    assert.equal(helpUri, `${MANUAL}rules.md#${id}`);
  }
  assert.deepEqual(run.results[0].locations, [
    {
      physicalLocation: {
        artifactLocation: { uri: "linked/b.yaml" },
        region: { startLine: 4, startColumn: 5 },
      },
    },
  ]);
  assert.deepEqual(run.results[2].locations, [{ physicalLocation: { artifactLocation: { uri: "empty" } } }]);
});

test("--format github prints escaped annotations", async () => {
  const odd = "odd, 100%: name.yaml";
  write(odd, "domain: a\ndescriptors:\n  - key: k\n    rate_limt: {}\n");
  const { out, status } = await check(["--format", "github", "linked", "warn", odd]);
  assert.equal(status, 1);
  const key = `%0A${MANUAL}rules.md#unknown-key`;
  assert.deepEqual(out.split("\n"), [
    `::error file=linked/b.yaml,line=4,col=5,title=unknown-key::unknown key \`rate_limt\` in a descriptor: did you mean \`rate_limit\`?${key}`,
    `::warning file=warn/a.yaml,line=5,col=22,title=detailed-metric-on-value::\`detailed_metric\` has no effect on a rule with an explicit \`value\`: the metric key shows it anyway%0A${MANUAL}rules.md#detailed-metric-on-value`,
    `::error file=odd%2C 100%25%3A name.yaml,line=4,col=5,title=unknown-key::unknown key \`rate_limt\` in a descriptor: did you mean \`rate_limit\`?${key}`,
    "",
  ]);
});

test("many different codes name their common page", async () => {
  write(
    "many.yaml",
    "domain: a\ndescriptors:\n  - { key: a, x: 1 }\n  - { value: b }\n  - { key: c, rate_limit: { unit: minuet, requests_per_unit: -1 } }\n",
  );
  const { out } = await check(["many.yaml"]);
  assert.deepEqual(out.match(/^docs: .*$/gm), [`docs: ${MANUAL}rules.md#all-diagnostics`]);
});

test("a long line is shortened around the fault, and control characters are replaced", async () => {
  write("long.yaml", `domain: a\ndescriptors: [{ key: k, x: "${"y".repeat(300)}", rate_limt: {} }]\n`);
  const { out } = await check(["long.yaml"]);
  for (const line of out.split("\n")) assert.ok(line.length < 260, `${line.length} characters`);
  const lines = out.split("\n");
  const at = lines.findIndex((line) => line.includes("unknown key `rate_limt`"));
  const [shown = "", caret = ""] = lines.slice(at + 1);
  assert.equal(shown.slice(caret.indexOf("^")).slice(0, 9), "rate_limt");
  write("escape.yaml", 'domain: a\ndescriptors:\n  - key: "\u009b31m"\n    rate_limt: "\u009b31m"\n');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
  assert.doesNotMatch((await check(["escape.yaml"])).out, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});
