import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { runCheck } from "./check.ts";
import { checkFlags } from "./check-options.ts";
import { clientFlags } from "./client-options.ts";
import { completionsFor } from "./completions.ts";
import type { CommandDescription } from "./description.ts";
import { CHECK, CLIENT, COMMANDS, DIFF, EXPLAIN, INIT, REPLAY, SERVE, TEST } from "./descriptions.ts";
import { diffFlags } from "./diff-options.ts";
import { explainFlags } from "./explain-options.ts";
import { parseFlags } from "./flags.ts";
import { runCompletion, runHelp, runMan, unknownCommand } from "./information.ts";
import { initFlags } from "./init.ts";
import { manPage } from "./man-page.ts";
import { replayFlags } from "./replay-options.ts";
import { serveFlags } from "./serve.ts";
import { testFlags } from "./test-options.ts";
import { usageOf } from "./usage.ts";

interface Outcome {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

type Run = (argv: readonly string[], io: Parameters<typeof runCheck>[1]) => number | Promise<number>;

async function outcomeOf(run: Run, argv: readonly string[], input: readonly string[] = []): Promise<Outcome> {
  let [out, err] = ["", ""];
  const status = await run(argv, {
    stdin: (async function* () {
      yield* input;
    })(),
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
    env: {},
    cwd: import.meta.dirname,
  });
  return { status, out, err };
}

describe("the table of commands", () => {
  /** Flags that a command reads and its help does not show: other spellings, and help. */
  const hidden = ["help", "oltp-protocol", "merge-domain-config"];
  const parsed: readonly (readonly [
    CommandDescription,
    Readonly<Record<string, { readonly type: string }>>,
  ])[] = [
    [SERVE, serveFlags],
    [CLIENT, clientFlags],
    [CHECK, checkFlags],
    [EXPLAIN, explainFlags],
    [INIT, initFlags],
    [TEST, testFlags],
    [DIFF, diffFlags],
    [REPLAY, replayFlags],
  ];
  for (const [command, flags] of parsed)
    test(`has the flags that tollgate ${command.name} reads`, () => {
      const described = command.flags.map(({ name }) => name.replaceAll("_", "-"));
      const read = Object.keys(flags).filter((name) => !hidden.includes(name));
      const alias = command === EXPLAIN ? ["config-dir"] : [];
      assert.deepEqual([...described, ...alias].sort(), read.sort());
      for (const { name, value } of command.flags) {
        const { type } = flags[name.replaceAll("_", "-")]!;
        assert.equal(type, value === undefined ? "boolean" : "string", name);
      }
    });

  for (const command of COMMANDS)
    test(`the help of ${command.name} names its flags and statuses, in lines of 120 characters`, () => {
      const text = usageOf(command);
      for (const { name } of command.flags) assert.ok(text.includes(`  -${name}`), name);
      for (const [status] of command.exit) assert.match(text, new RegExp(`Exit status:.*\\b${status} `, "s"));
      for (const line of text.split("\n")) assert.ok(line.length <= 120, line);
    });
});

const SIMILAR: readonly (readonly [Run, readonly string[], RegExp])[] = [
  [(_, io) => unknownCommand("sevre", io), [], /unknown command "sevre"; did you mean "serve"\?/],
  [(_, io) => unknownCommand("frobnicate", io), [], /the commands are serve, client, /],
  [runHelp, ["chekc"], /did you mean "check"\?/],
  [runCheck, ["--stric", "x"], /unknown flag -stric; did you mean -strict\?/],
  [
    runCheck,
    ["-merge_domains_config", "x"],
    /unknown flag -merge_domains_config; did you mean -merge-domain-config/,
  ],
  [runCheck, ["--frobnicate", "x"], /unknown flag -frobnicate\nSee/],
  [
    runCheck,
    ["descriptons.ts"],
    /descriptons\.ts: no such file or directory; did you mean descriptions\.ts\?/,
  ],
  [
    runCheck,
    ["absent"],
    /absent: no such file or directory; pass the folder that contains your \*\.yaml files/,
  ],
  [runCheck, ["absent/config"], /commands\/absent does not exist, either/],
  [runCompletion, ["csh"], /unknown shell "csh": must be bash, zsh, fish/],
  [runCompletion, [], /pass a shell/],
  [runMan, ["serve"], /unexpected argument "serve"/],
];
for (const [run, argv, message] of SIMILAR)
  test(`wrong usage: ${run.name} ${argv.join(" ")}: status 2, ${message.source}`, async () => {
    const { status, out, err } = await outcomeOf(run, argv);
    assert.deepEqual([status, out], [2, ""]);
    assert.match(err, message);
  });

test("an unknown flag with one dash is named whole", () => {
  assert.throws(() => parseFlags(["-domian", "x"], clientFlags, false), {
    message: "unknown flag -domian; did you mean -domain?",
  });
});

describe("tollgate check -", () => {
  test("reads a configuration from standard input", async () => {
    const { status, out } = await outcomeOf(runCheck, ["-"], ["domain: d\ndescri", "ptors:\n  - key: k\n"]);
    assert.deepEqual([status, out], [0, "1 domain, 0 limits in 1 file: no errors\n"]);
  });

  test("names standard input in a diagnostic", async () => {
    const { status, out } = await outcomeOf(runCheck, ["-"], ["domain: d\ndescriptors: 5\n"]);
    assert.equal(status, 1);
    assert.match(out, /^<standard input>:2:14: `descriptors` must be a list/);
  });
});

describe("completions", () => {
  const cases: readonly (readonly [words: string, completions: readonly string[]])[] = [
    ["tollgate ch", ["check"]],
    ["tollgate client --d", ["--dial_string", "--domain", "--descriptors"]],
    ["tollgate check --format s", ["sarif"]],
    ["tollgate completion z", ["zsh"]],
    ["tollgate help ex", ["explain"]],
  ];
  for (const [line, completions] of cases)
    test(`bash: ${line}`, () => {
      const words = line.split(" ");
      const script = `${completionsFor("bash")}
COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _tollgate; echo "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
      assert.equal(stdout, `${completions.join(" ")}\n`, stderr);
    });
});

test("the manual page has every command, flag and status", () => {
  const page = manPage("1.2.3");
  assert.match(page, /^\.TH TOLLGATE 1 "" "Tollgate 1\.2\.3" "User Commands"\n\.SH NAME\n/);
  for (const { name, flags } of COMMANDS) {
    assert.match(page, new RegExp(`^\\.SS tollgate ${name}`, "m"));
    for (const flag of flags)
      assert.ok(page.includes(`\\fB\\-${flag.name.replaceAll("-", "\\-")}\\fR`), flag.name);
  }
  // Each request is one of man(7).
  for (const [, request] of page.matchAll(/^\.(\w+)/gm))
    assert.match(request!, /^(?:TH|SH|SS|TP|PP|B|BR|RI)$/);
});
