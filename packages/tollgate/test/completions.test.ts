/** The completion scripts in their shells. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { scaled } from "../../../tools/time-scale.ts";
import { completionsFor } from "../src/commands/completions.ts";

const lines: readonly (readonly [line: string, completions: readonly string[]])[] = [
  ["tollgate ch", ["check"]],
  ["tollgate client --dom", ["--domain"]],
  ["tollgate client --d", ["--descriptors", "--dial_string", "--domain"]],
  ["tollgate check --format s", ["sarif"]],
  ["tollgate completion z", ["zsh"]],
  ["tollgate help ex", ["explain"]],
];

/** Types the line and Tab into an interactive zsh on a pseudo terminal, then runs the completed line. */
const ZSH = `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT= RPROMPT=; autoload -Uz compinit && compinit -u -D && source $1; tollgate() { print -r -- \\"COMPLETED \\$* END\\" }; print READY''NOW"
zpty -r shell out '*READYNOW*'
zpty -w -n shell "$2"$'\\t\\n'
zpty -r shell out '*COMPLETED*END*'
print -r -- "$out"
`;

describe("completions", { timeout: scaled(60_000) }, () => {
  let folder: string;
  const script = (shell: string) => join(folder, `tollgate.${shell}`);
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-completions-"));
    for (const shell of ["zsh", "fish"]) writeFileSync(script(shell), completionsFor(shell)!);
    writeFileSync(join(folder, "type.zsh"), ZSH);
  });
  after(() => rmSync(folder, { recursive: true }));

  function run(command: string, args: readonly string[]): string {
    const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, TERM: "dumb" };
    const { stdout, stderr } = spawnSync(command, args, { encoding: "utf8", env, timeout: scaled(20_000) });
    assert.equal(stderr, "");
    return stdout;
  }

  for (const [line, completions] of lines) {
    test(`fish: ${line}`, () => {
      const out = run("fish", ["--no-config", "-c", `source ${script("fish")}; complete -C '${line}'`]);
      const words = out
        .trimEnd()
        .split("\n")
        .map((each) => each.split("\t")[0]);
      assert.deepEqual(words.sort(), completions);
    });

    // Tab completes a line only if there is one possibility.
    if (completions.length === 1)
      test(`zsh: ${line}`, () => {
        const out = run("zsh", ["-f", join(folder, "type.zsh"), script("zsh"), line]);
        const typed = line.split(" ").slice(1, -1);
        assert.equal(/COMPLETED (.*) END/.exec(out)?.[1], [...typed, completions[0]].join(" "));
      });
  }
});
