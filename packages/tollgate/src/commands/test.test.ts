import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { EXAMPLES } from "../installation.ts";
import { runCheck } from "./check.ts";
import { runInit } from "./init.ts";
import { runTest } from "./test.ts";

const cwd = mkdtempSync(join(tmpdir(), "tollgate-test-"));
after(() => rmSync(cwd, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(cwd, path)), { recursive: true });
  writeFileSync(join(cwd, path), text);
}

const rules = (limit: number) =>
  `domain: d\ndescriptors:\n  - { key: k, rate_limit: { unit: day, requests_per_unit: ${limit} } }\n`;
const tests = (more: string, code: string) =>
  `domain: d\n${more}tests:\n  - name: 'a <b> & "c" #d'\n    steps:\n      - { request: k=v, expect: ${code} }\n`;

write("good/d.yaml", rules(1));
write("good/d.test.yaml", tests("", "OK"));
write("good/README.md", "no test: [");
write("good/.hidden/x.test.yaml", "no test: [");
write("good/node_modules/x.test.yaml", "no test: [");
write("bad/d.yaml", rules(0));
write("bad/deep/er/d.test.yaml", tests("config: ../..\n", "OK"));
write("faulty/d.yaml", "domain: d\ndescriptor: []\n");
write("faulty/d.test.yaml", tests("", "OK"));
write("fault/d.test.yaml", "tests: 5\n");
write("lost/d.test.yaml", tests("config: nowhere\n", "OK"));
write("single.yaml", rules(1));
write("single.test.yaml", tests("config: single.yaml\n", "OK"));
write("named/strange.test.yaml", rules(0).replace("domain: d", "domain: e"));
write("named/d.yaml", rules(1));
mkdirSync(join(cwd, "empty"));
// A search neither waits for a pipe nor follows a link without a target.
write("strange/d.yaml", rules(1));
write("strange/tests/d.test.yaml", tests("config: ..\n", "OK"));
spawnSync("mkfifo", [join(cwd, "strange/tests/pipe.test.yaml")]);
symlinkSync("nowhere", join(cwd, "strange/tests/lost.test.yaml"));
mkdirSync(join(cwd, "strange/tests/folder.test.yaml"));

interface Outcome {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

async function run(
  argv: string,
  {
    isTTY = false,
    command = runTest as (...args: Parameters<typeof runTest>) => number | Promise<number>,
  } = {},
): Promise<Outcome> {
  let [out, err] = ["", ""];
  const status = await command(argv.split(" ").filter(Boolean), {
    stdout: { write: (text) => (out += text), isTTY },
    stderr: { write: (text) => (err += text) },
    env: {},
    cwd,
  });
  return { status, out, err };
}

/** arguments | exit status | standard output | standard error */
const runs: readonly (readonly [string, number, RegExp, RegExp?])[] = [
  ["good", 0, /^good\/d\.test\.yaml\n {2}ok {6}a <b> & "c" #d\n\n1 test in 1 file: passed\n$/],
  ["good/d.test.yaml", 0, /1 test in 1 file: passed/],
  ["strange", 0, /1 test in 1 file: passed/],
  ["single.test.yaml good", 0, /2 tests in 2 files: passed/],
  [
    "bad",
    1,
    /FAILED.*\n\nbad\/deep\/er\/d\.test\.yaml:6:9: a <b> & "c" #d\n.*\n {4}- code {7}OK\n {4}\+ code {7}OVER_LIMIT\n/,
  ],
  ["--config bad good", 1, /1 test in 1 file: 1 failed\n$/],
  ["--config good bad", 0, /1 test in 1 file: passed\n$/],
  [
    "faulty",
    1,
    /^faulty\/d\.test\.yaml\n[\s\S]*faulty\/d\.yaml:2:1: unknown key `descriptor`.*\[unknown-key\]\n[\s\S]*1 failed/,
  ],
  ["fault", 1, /^fault\/d\.test\.yaml:1:8: `tests` must be a list/m],
  ["lost", 1, /^lost\/d\.test\.yaml: the configuration lost\/nowhere: no such file or directory/m],
  ["empty", 2, /^$/, /empty: no \*\.test\.yaml file here or below; tollgate init writes an example/],
  ["absent", 2, /^$/, /absent: no such file or directory/],
  ["--config absent good", 2, /^$/, /absent: no such file or directory/],
  ["--format xml good", 2, /^$/, /-format xml: must be one of text, tap, junit/],
  ["--wach good", 2, /^$/, /unknown flag -wach; did you mean -watch\?/],
  ["--help", 0, /^usage: tollgate test/],
  [
    "--format tap bad faulty good",
    1,
    /^TAP version 14\n1\.\.3\n# Subtest: bad.*\n {4}1\.\.1\n {4}not ok 1 - a <b> & "c" \\#d\n {6}---\n {6}message: \|\n[\s\S]*\n {6}\.\.\.\nnot ok 1 - bad.*\n[\s\S]*\nok 3 - good\/d\.test\.yaml\n$/,
  ],
  [
    "--format junit bad faulty good",
    1,
    /<testsuites name="tollgate" tests="3" failures="1" errors="1">[\s\S]*<testcase name="a &lt;b&gt; &amp; &quot;c&quot; #d"[\s\S]*<failure message="step 1[\s\S]*<error message=/,
  ],
];
describe("tollgate test", () => {
  for (const [argv, status, out, err = /^$/] of runs)
    test(`${argv}: status ${status}`, async () => {
      const outcome = await run(argv);
      assert.match(outcome.out, out);
      assert.match(outcome.err, err);
      assert.equal(outcome.status, status);
    });

  test("colors its output for a terminal", async () => {
    const { out } = await run("bad", { isTTY: true });
    assert.notEqual(out, stripVTControlCharacters(out));
    assert.equal(stripVTControlCharacters(out), (await run("bad")).out);
  });

  test("the examples of the package", async () => {
    const { out, status } = await run(EXAMPLES);
    assert.match(out, /^\d+ tests in 2 files: passed\n$/m);
    assert.equal(status, 0);
  });

  test("--watch runs the tests again after a change of the rules or of the test, also if a file is missing meanwhile", async () => {
    write("watched/d.yaml", rules(1));
    write("watched/d.test.yaml", tests("", "OK"));
    const ending = new AbortController();
    const runs: string[] = [];
    let left = Promise.withResolvers<void>();
    let out = "";
    const ended = runTest(
      ["--watch", "watched"],
      {
        stdout: { write: (text) => (out += text) },
        stderr: {
          write: (text) => {
            if (/no \*\.test\.yaml file/.test(text)) out = "no test";
            if (!/Watching/.test(text)) return;
            runs.push(/passed|failed|no test/.exec(out)?.[0] ?? "");
            out = "";
            left.resolve();
          },
        },
        env: {},
        cwd,
      },
      ending.signal,
    );
    const changes = [
      () => write("watched/d.yaml", rules(0)),
      () => write("watched/d.test.yaml", tests("", "OVER_LIMIT")),
      () => rmSync(join(cwd, "watched/d.test.yaml")),
      () => write("watched/d.test.yaml", tests("", "OVER_LIMIT")),
    ];
    for (const change of changes) {
      await left.promise;
      left = Promise.withResolvers();
      change();
    }
    await left.promise;
    ending.abort();
    assert.equal(await ended, 0);
    assert.deepEqual(runs, ["passed", "failed", "passed", "no test", "passed"]);
  });
});

describe("test files beside the rules", () => {
  test("tollgate check does not read them as rules, neither in a directory nor as files", async () => {
    for (const argv of ["good", "good/d.yaml good/d.test.yaml"])
      assert.equal((await run(argv, { command: runCheck })).out, "1 domain, 1 limit in 1 file: no errors\n");
  });

  test("a file with rules and the name of a test file is a file of rules", async () => {
    const { out } = await run("named", { command: runCheck });
    assert.equal(out, "2 domains, 2 limits in 2 files: no errors\n");
  });
});

describe("tollgate init", () => {
  const init = (argv: string) => run(argv, { command: runInit });
  for (const domain of ["shop", "on", "1.5", "a-b.c_d"])
    test(`-domain ${domain}: writes files that pass check --strict and test`, async () => {
      const folder = `init-${domain}`;
      const { status, out } = await init(`-domain ${domain} ${folder}`);
      assert.equal(status, 0);
      assert.match(
        out,
        new RegExp(`^wrote ${folder}/config/${domain}\\.yaml\nwrote .*\\.test\\.yaml\n\nNext:\n`),
      );
      const checked = await run(`--strict ${folder}/config`, { command: runCheck });
      assert.equal(checked.out, "1 domain, 3 limits in 1 file: no errors\n");
      const tested = await run(folder);
      assert.match(tested.out, /4 tests in 1 file: passed/);
    });

  test("overwrites no file", async () => {
    write("taken/config/shop.test.yaml", "mine");
    const { status, err } = await init("taken");
    assert.equal(status, 1);
    assert.equal(err, "tollgate init: taken/config/shop.test.yaml exists; nothing was written\n");
    assert.equal(readFileSync(join(cwd, "taken/config/shop.test.yaml"), "utf8"), "mine");
    assert.throws(() => readFileSync(join(cwd, "taken/config/shop.yaml")), { code: "ENOENT" });
  });

  test("prints commands that a shell reads as they are", async () => {
    const { out } = await run("o'ne;two", { command: runInit });
    const [command] = /tollgate check .*/.exec(out)!;
    const words = spawnSync("sh", ["-c", command.replace("tollgate check", "printf %s")], {
      encoding: "utf8",
    });
    assert.equal(words.stdout, "o'ne;two/config");
  });

  const wrong: readonly (readonly [string, number, RegExp])[] = [
    ["a b", 2, /unexpected argument "b"/],
    ["-domain ../x", 2, /-domain \.\.\/x: must be 1 to 63 letters/],
    ["-domian x", 2, /did you mean -domain\?/],
    ["single.yaml", 1, /tollgate init: E/],
  ];
  for (const [argv, status, message] of wrong)
    test(`${argv}: status ${status}`, async () => {
      const outcome = await init(argv);
      assert.match(outcome.err, message);
      assert.equal(outcome.status, status);
    });
});
