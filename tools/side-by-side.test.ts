import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

const TOOL = join(import.meta.dirname, "side-by-side.ts");
const folder = mkdtempSync(join(tmpdir(), "tollway-side-by-side-"));
after(() => rmSync(folder, { recursive: true }));
/** On one core the lists run one after the other, and nothing is added to their output. */
const isBeside = availableParallelism() > 1;
const long = isBeside ? "sleep 60; echo late" : "true";
const onStderr = isBeside ? ">&2" : "";

function run(...args: readonly string[]): Promise<{ code: number; lines: string[] }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [TOOL, ...args], (error, stdout) =>
      resolve({ code: Number(error?.code ?? 0), lines: stdout.trim().split("\n") }),
    );
  });
}

test("both lists run, each in its order, and print their output whole", async () => {
  const { code, lines } = await run(
    "echo a",
    "sleep 0.2; echo b",
    "--",
    "echo c; sleep 0.1; echo d",
    "echo e",
  );
  assert.equal(code, 0);
  assert.deepEqual(lines, ["a", "b", "c", "d", "e"]);
});

for (const [name, args, last] of [
  ["the first list", ["echo a; exit 3", "echo never", "--", "echo c", long], "a"],
  ["the second list", ["echo a", long, "--", `echo c ${onStderr}; exit 3`, "echo never"], "c"],
] as const)
  test(`a failure of ${name} ends the other one, is the result, and is seen last`, async () => {
    const { code, lines } = await run(...args);
    assert.equal(code, 3);
    assert.ok(!lines.includes("late") && !lines.includes("never"), lines.join("\n"));
    if (isBeside) assert.match(lines.pop()!, /^✖ .*: exit status 3$/);
    assert.equal(lines.pop(), last);
  });

for (const signal of ["SIGTERM", "SIGKILL"] as const)
  test(`${signal} ends all commands`, async () => {
    const files = ["one", "two"].map((name) => join(folder, `${signal}-${name}`));
    const child = spawn(
      process.execPath,
      [TOOL, `echo $$ > ${files[0]}; sleep 600`, "--", `echo $$ > ${files[1]}; sleep 600`],
      { stdio: "ignore" },
    );
    const pids = [];
    for (const file of isBeside ? files : files.slice(0, 1)) {
      while (!existsSync(file) || readFileSync(file, "utf8") === "") await sleep(20);
      pids.push(Number(readFileSync(file, "utf8")));
    }
    child.kill(signal);
    await once(child, "exit");
    if (isBeside) for (const pid of pids) while (isRunning(pid)) await sleep(20);
    else for (const pid of pids) process.kill(pid, "SIGKILL");
  });

function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

test("a call without two lists prints the usage", async () => {
  for (const args of [[], ["a"], ["a", "--"], ["--", "a"]]) assert.equal((await run(...args)).code, 2);
});
