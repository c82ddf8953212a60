/** Tests the reporter with real runs of node:test. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import type { TestEvent } from "node:test/reporters";
import { report } from "./test-reporter.ts";

const folder = mkdtempSync(join(tmpdir(), "test-reporter-"));
after(() => rmSync(folder, { recursive: true }));

function run(files: Record<string, string>): { status: number | null; text: string } {
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(
      join(folder, name),
      `import assert from "node:assert/strict"; import { describe, test } from "node:test";\n${content}`,
    );
  }
  const reporter = new URL("./test-reporter.ts", import.meta.url).href;
  // The variable marks a test runner as part of another run.
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      "--test",
      `--test-reporter=${reporter}`,
      "--test-reporter-destination=stdout",
      ...Object.keys(files).sort(),
    ],
    { cwd: folder, env, encoding: "utf8" },
  );
  return { status, text: stdout };
}

/** The closing lines with the duration left out. */
function summaryOf(text: string): string[] {
  const lines = text.trimEnd().split("\n");
  return lines.slice(-8).map((line) => line.replace(/duration_ms .*/, "duration_ms"));
}

function summary(tests: number, suites: number, pass: number, fail: number): string[] {
  return [
    `ℹ tests ${tests}`,
    `ℹ suites ${suites}`,
    `ℹ pass ${pass}`,
    `ℹ fail ${fail}`,
    "ℹ cancelled 0",
    "ℹ skipped 0",
    "ℹ todo 0",
    "ℹ duration_ms",
  ];
}

describe("the test reporter", () => {
  test("prints only the summary if every test passes", () => {
    const { status, text } = run({
      "pass.test.mjs": `describe("suite", () => { test("one", (t) => { t.diagnostic("a remark"); console.log("noise"); }); test("two", () => {}); });`,
    });
    assert.equal(status, 0);
    assert.equal(text.trimEnd().split("\n").length, 8);
    assert.deepEqual(summaryOf(text), summary(2, 1, 2, 0));
  });

  test("prints a failure with its file, its name and its error, after one line when it happens", () => {
    const { status, text } = run({
      "a.test.mjs": `describe("outer", () => { test("before", () => {}); describe("inner", () => { test("wrong", () => assert.equal(1, 2)); }); });`,
      "b.test.mjs": `test("fine", () => {});`,
    });
    assert.equal(status, 1);
    const [first, blank, again, error] = text.split("\n");
    assert.equal(first, "✖ a.test.mjs: outer > inner > wrong");
    assert.equal(blank, "");
    assert.equal(again, first);
    assert.match(error!, /^ {2}AssertionError/);
    assert.match(text, /\n {2}1 !== 2\n/);
    assert.match(text, /a\.test\.mjs:2:\d+/);
    assert.doesNotMatch(text, /node:internal\/test_runner/);
    assert.match(text, /^ {4}code: 'ERR_ASSERTION',$/m);
    assert.match(text, / \{\n {4}generatedMessage/);
    assert.equal(
      text.match(/^✖/gm)!.length,
      2,
      "the suites around the failure are not failures of their own",
    );
    assert.deepEqual(summaryOf(text), summary(3, 2, 2, 1));
  });

  test("names a failed subtest with all enclosing tests", () => {
    const { text } = run({
      "sub.test.mjs": `test("parent", async (t) => { await t.test("child", () => { throw new Error("broken"); }); });`,
    });
    assert.match(text, /^✖ sub\.test\.mjs: parent > child\n/);
    assert.match(text, /\n {2}Error: broken\n/);
  });

  test("prints the end of a failed file's output, and no output of other files", () => {
    const { text } = run({
      "quiet.test.mjs": `test("passes", () => console.log("from the file that passes"));`,
      "loud.test.mjs": `test("fails", () => { console.log("x".repeat(100_000)); console.error("the last line"); assert.fail("no"); });`,
    });
    assert.match(text, /\nend of what loud\.test\.mjs wrote:\n {2}x+\n {2}the last line\n/);
    assert.doesNotMatch(text, /from the file that passes/);
    assert.ok(text.length < 10_000, `${text.length} characters`);
  });

  test("names a file that does not load, with the reason, and one that ends with an exit code", () => {
    const { text } = run({
      "missing.test.mjs": `import "./absent.mjs";`,
      "exits.test.mjs": `test("passes", () => {}); process.exitCode = 3;`,
    });
    assert.match(text, /^✖ exits\.test\.mjs\n✖ missing\.test\.mjs\n/);
    assert.match(text, /✖ exits\.test\.mjs\n {2}the process of the file ended with exit code 3\n/);
    assert.match(text, /end of what missing\.test\.mjs wrote:\n.*Cannot find module '.*absent\.mjs'/s);
  });

  test("prints progress once a minute", async () => {
    let minutes = 0;
    async function* events(): AsyncGenerator<TestEvent> {
      for (let count = 0; count < 3; count++) {
        yield { type: "test:pass", data: { name: "t", nesting: 0, details: {} } } as TestEvent;
        minutes += 0.5;
      }
    }
    const lines: string[] = [];
    for await (const line of report(events(), { now: () => minutes * 60_000, cwd: folder })) lines.push(line);
    assert.deepEqual(lines, ["3 passed, 0 failed so far\n", ""]);
  });
});
