import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { runDiff } from "./diff.ts";

const cwd = mkdtempSync(join(tmpdir(), "tollgate-diff-"));
after(() => rmSync(cwd, { recursive: true }));

function write(folder: string, descriptors: readonly string[]): void {
  mkdirSync(join(cwd, folder));
  const lines = descriptors.map((one) => `  - { ${one} }\n`).join("");
  writeFileSync(join(cwd, folder, "d.yaml"), `domain: d\ndescriptors:\n${lines}`);
}

const limit = (number: number, unit = "day") => `rate_limit: { unit: ${unit}, requests_per_unit: ${number} }`;
write("old", [
  `key: k, ${limit(5)}`,
  `key: gone, ${limit(1)}`,
  `key: up, ${limit(1)}`,
  `key: flag, ${limit(1)}`,
]);
write("new", [
  `key: k, ${limit(4)}`,
  `key: k, value: "a|b\`,c", ${limit(9)}`,
  `key: up, ${limit(2)}`,
  `key: flag, shadow_mode: true, detailed_metric: true, ${limit(1)}`,
]);
write("bad", ["key: k, limit: 5"]);
write("none", ["key: k"]);
write("merged", [`key: k, ${limit(5)}`]);
writeFileSync(join(cwd, "merged/e.yaml"), `domain: d\ndescriptors:\n  - { key: l, ${limit(5)} }\n`);
write("month", [`key: k, ${limit(5, "month")}`]);
write("calendar", [`key: k, ${limit(5, "month, calendar: {}")}`]);
write(
  "many",
  Array.from({ length: 300 }, (_, index) => `key: k${index}, ${limit(1)}`),
);

interface Outcome {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

async function diff(argv: string, isTTY = false): Promise<Outcome> {
  let [out, err] = ["", ""];
  const status = await runDiff(argv.split(" "), {
    stdout: { write: (text) => (out += text), isTTY },
    stderr: { write: (text) => (err += text) },
    env: {},
    cwd,
  });
  return { status, out, err };
}

const TEXT = `added
  d.k_a|b\`,c (new/d.yaml:4:5): 9 per day
      d k=a|b\`\\,c

removed
  d.gone (old/d.yaml:4:5): 1 per day
      d gone=x

raised
  d.up (old/d.yaml:5:5 -> new/d.yaml:5:5)
      1 per day -> 2 per day

lowered
  d.k (old/d.yaml:3:5 -> new/d.yaml:3:5)
      5 per day -> 4 per day

changed
  d.flag (old/d.yaml:6:5 -> new/d.yaml:6:5)
      1 per day -> 1 per day (shadow mode)
      detailed_metric: not set -> true

requests that match another rule
  d k=a|b\`\\,c
      d.k (old/d.yaml:3:5) -> d.k_a|b\`,c (new/d.yaml:4:5)

metric keys that change
  d k=a|b\`\\,c
      d.k -> d.k_a|b\`,c
  d flag=x
      d.flag -> d.flag_x

limits: 1 added, 1 removed, 1 raised, 1 lowered, 1 changed; 1 kind of requests match another rule; 2 changes of metric keys
`;

describe("tollgate diff", () => {
  test("prints text", async () => {
    assert.deepEqual(await diff("old new"), { status: 0, out: TEXT, err: "" });
  });

  test("colors the text for a terminal", async () => {
    const { out } = await diff("old new", true);
    assert.notEqual(out, TEXT);
    assert.equal(stripVTControlCharacters(out), TEXT);
  });

  test("prints Markdown whose cells cannot be broken by a value", async () => {
    const { out } = await diff("old new --format markdown");
    assert.match(out, /^## Rate limits\n\nlimits: 1 added/);
    const rows = out.split("\n").filter((line) => line.startsWith("| "));
    for (const row of rows) assert.ok([3, 4].includes(row.split(/(?<!\\)\|/).length - 2), row);
    assert.ok(rows.includes("| added | ``d.k_a\\|b`,c (new/d.yaml:4:5)`` |  | 9 per day |"), rows.join("\n"));
    assert.ok(
      rows.includes(
        "| changed | `d.flag (new/d.yaml:6:5)` | 1 per day | 1 per day (shadow mode)<br>`detailed_metric: not set -> true` |",
      ),
    );
  });

  test("prints JSON", async () => {
    const { out } = await diff("old new --format json");
    const { summary, changed, rematched, is_complete, ...lists } = JSON.parse(out);
    assert.match(summary, /^limits: 1 added/);
    assert.equal(is_complete, true);
    assert.deepEqual(
      changed.map(({ direction, limit_now }: { direction: string; limit_now: string }) => [
        direction,
        limit_now,
      ]),
      [
        ["lowered", "4 per day"],
        ["raised", "2 per day"],
        ["same", "1 per day (shadow mode)"],
      ],
    );
    assert.deepEqual(rematched, [
      {
        before: { key: "d.k", location: "old/d.yaml:3:5" },
        now: { key: "d.k_a|b`,c", location: "new/d.yaml:4:5" },
        example: { domain: "d", entries: [{ key: "k", value: "a|b`,c" }] },
      },
    ]);
    assert.deepEqual(Object.keys(lists), ["added", "removed", "metric_keys", "cache_keys"]);
  });

  test("shows the first 200 entries of a part", async () => {
    const { out } = await diff("none many");
    assert.match(out, /\n {2}\.\.\. and 100 more: -format json has all\n/);
    assert.match((await diff("none many -format markdown")).out, /\n\n\.\.\. and 250 more\n/);
  });

  /** arguments | exit status | standard output | standard error */
  const runs: readonly (readonly [string, number, RegExp, RegExp?])[] = [
    ["old old", 0, /^no difference\n$/],
    ["old old --check", 0, /^no difference\n$/],
    ["old new --check", 3, /^added\n/],
    ["merged merged", 1, /^$/, /defines? the domain|duplicate|already/],
    ["merged merged --merge_domain_configs", 0, /^no difference\n$/],
    ["month calendar", 0, /calendar of UTC\n/],
    ["month calendar --use_calendar_month_rate_limit", 0, /^no difference\n$/],
    ["old/d.yaml new/d.yaml", 0, /^added\n/],
    ["old bad", 1, /^$/, /bad\/d\.yaml:3:15: unknown key `limit`/],
    ["bad old", 1, /^$/, /unknown key/],
    ["old", 2, /^$/, /pass two configurations, the old one first/],
    ["old new more", 2, /^$/, /pass two configurations/],
    ["old absent", 2, /^$/, /absent: no such file/],
    ["old new --format html", 2, /^$/, /must be one of text, markdown, json/],
    ["old new --chek", 2, /^$/, /did you mean -check\?/],
    ["--help", 0, /^usage: tollgate diff OLD NEW/],
  ];
  for (const [argv, status, out, err = /^$/] of runs)
    test(`${argv}: status ${status}`, async () => {
      const outcome = await diff(argv);
      assert.match(outcome.out, out);
      assert.match(outcome.err, err);
      assert.equal(outcome.status, status);
    });
});
