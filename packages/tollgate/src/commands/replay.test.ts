import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { record, rulesOf } from "../replay/replay.fixture.ts";
import { runReplay } from "./replay.ts";

const cwd = mkdtempSync(join(tmpdir(), "tollgate-replay-"));
after(() => rmSync(cwd, { recursive: true }));

const START = Date.parse("2026-11-22T13:00:00Z");
const rules = (limit: number) =>
  `domain: d\ndescriptors:\n  - { key: k, rate_limit: { unit: minute, requests_per_unit: ${limit} } }\n`;
mkdirSync(join(cwd, "new"));
mkdirSync(join(cwd, "bad"));
writeFileSync(join(cwd, "new/d.yaml"), rules(2));
writeFileSync(join(cwd, "same.yaml"), rules(4));
writeFileSync(join(cwd, "bad/d.yaml"), "domain: d\n");

/** Five requests of one key in each of ten minutes, and one of another key. */
const calls = Array.from({ length: 10 }, (_, minute) =>
  Array.from({ length: 6 }, (_, call) => ({
    time: START + minute * 60_000 + call,
    descriptors: [call === 5 ? "k=rare" : "k=often"],
  })),
).flat();
const lines = record(rulesOf(rules(4)), calls, 0.5).map(({ line }) => `${line}\n`);
const log = lines.join("");
writeFileSync(join(cwd, "log"), log);
writeFileSync(join(cwd, "first"), lines.slice(0, 30).join(""));
writeFileSync(join(cwd, "second"), `${lines.slice(30).join("")}{"time":\n`);
writeFileSync(join(cwd, "log.gz"), gzipSync(log));
writeFileSync(join(cwd, "log.zst"), zstdCompressSync(log));
writeFileSync(join(cwd, "broken.gz"), gzipSync(log).subarray(0, 100));
writeFileSync(join(cwd, "empty"), "");

interface Outcome {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

async function replay(argv: string, { input = "", isTTY = false } = {}): Promise<Outcome> {
  let [out, err] = ["", ""];
  const status = await runReplay(argv.split(" "), {
    stdin: (async function* () {
      yield Buffer.from(input);
    })(),
    stdout: { write: (text) => (out += text), isTTY },
    stderr: { write: (text) => (err += text), isTTY },
    env: {},
    cwd,
  });
  return { status, out, err };
}

const RESULT = `60 decisions from 2026-11-22T13:00:00Z to 2026-11-22T13:09:00Z; sampled at 50 %, sums are scaled

refused before           20  16.7 %
refused now              60  50 %
newly refused            40  33.3 %
newly pass                0  0 %

rule               decisions  refused before  refused now  newly refused  newly pass
d.k  new/d.yaml:3:5       120              20           60             40           0

keys with the most changes  newly refused  newly pass
d k=often                              40           0

`;

describe("tollgate replay", () => {
  test("shows rules, keys and a plot", async () => {
    const { out, status, err } = await replay("log --config new");
    assert.deepEqual([status, err], [0, ""]);
    const start = out.slice(0, out.indexOf("refused before, each"));
    const squeezed = (text: string) => text.replace(/ {2,}/g, "  ");
    assert.equal(squeezed(start), squeezed(RESULT));
    const plotted = out.slice(start.length).split("\n");
    assert.equal(plotted[0], "refused before, each column 10 s");
    // One column of six in which something was refused, a third as high before as now.
    assert.equal(plotted[1], "6 │");
    assert.match(plotted[4]!, /^ {2}│(?:▅ {5}){9}▅$/);
    assert.match(plotted[5]!, /^ {2}│(?:█ {5}){9}█$/);
    assert.equal(plotted[6], "refused now, each column 10 s");
    assert.match(plotted[7]!, /^6 │(?:█ {5}){9}█$/);
    assert.match(out, /\n60 decisions in \d+\.\d s\n$/);
  });

  for (const [argv, input] of [
    ["log.gz --config new"],
    ["log.zst --config new"],
    ["- --config new", log],
    ["first second --config new"],
    ["first - --config new", lines.slice(30).join("")],
  ] as const)
    test(`${argv}: the same result`, async () => {
      const { out, status } = await replay(argv, { input });
      assert.equal(status, 0);
      assert.match(out, /^newly refused +40 +33\.3 %$/m);
      if (argv.startsWith("first second"))
        assert.match(out, /^damaged lines: 1\n {2}second:31: the line is not JSON$/m);
    });

  test("--json has the same numbers", async () => {
    const { out } = await replay("log --config new --json --top 1");
    const { seconds, timeline, ...result } = JSON.parse(out);
    const sums = { decisions: 120, refused_before: 20, refused_now: 60, newly_refused: 40, newly_pass: 0 };
    assert.deepEqual(result, {
      lines: 60,
      decisions: 60,
      left_out: 0,
      late: 0,
      seeded_counters: 0,
      evicted_counters: 0,
      damaged: { lines: 0, first: [] },
      from: "2026-11-22T13:00:00Z",
      to: "2026-11-22T13:09:00Z",
      lowest_rate: 0.5,
      sums,
      rules: [{ before: "d.k", now: "d.k", location: "new/d.yaml:3:5", ...sums }],
      keys: { error: 0, top: [{ key: "d k=often", newly_refused: 40, newly_pass: 0 }] },
    });
    assert.equal(typeof seconds, "number");
    assert.deepEqual(timeline.spans[0], {
      time: "2026-11-22T13:00:00Z",
      decisions: 12,
      refused_before: 2,
      refused_now: 6,
      newly_refused: 4,
      newly_pass: 0,
    });
  });

  /** arguments | exit status | standard output | standard error */
  const runs: readonly (readonly [string, number, RegExp, RegExp?])[] = [
    ["log --config new --check", 3, /newly refused/],
    ["log --config same.yaml --check", 0, /^newly refused +0 +0 %$/m],
    ["empty --config new", 0, /^no decision to compare in 0 lines\n/],
    ["log --config bad", 1, /^$/, /bad\/d\.yaml:1:1: `descriptors` is missing/],
    ["log --config absent", 2, /^$/, /absent: no such file/],
    ["absent --config new", 2, /^$/, /absent: no such file/],
    ["new --config new", 2, /^$/, /new: is a directory; pass the log file/],
    ["broken.gz --config new", 2, /^$/, /broken\.gz: cannot be read \(Z_BUF_ERROR\)/],
    ["--config new", 2, /^$/, /no log given/],
    ["log", 2, /^$/, /-config is missing/],
    ["log --config new --top x", 2, /^$/, /-top x: must be a whole number/],
    ["log --config new --store_size 9999", 2, /^$/, /must be at most 4096/],
    ["log --confg new", 2, /^$/, /did you mean -config\?/],
    ["--help", 0, /^usage: tollgate replay LOG/],
  ];
  for (const [argv, status, out, err = /^$/] of runs)
    test(`${argv}: status ${status}`, async () => {
      const outcome = await replay(argv);
      assert.match(outcome.out, out);
      assert.match(outcome.err, err);
      assert.equal(outcome.status, status);
    });

  test("draws a progress bar on a terminal, and removes it", async () => {
    const { out, err } = await replay("log --config new", { isTTY: true });
    assert.match(err, /█+.* 100 %, \d+ s left, \d+ lines, [\d,]+ a second/);
    assert.ok(err.endsWith("\r\u001b[K"));
    assert.notEqual(out, stripVTControlCharacters(out));
    assert.match((await replay("- --config new", { isTTY: true, input: log })).err, /K\d+ lines, /);
  });
});
