/** Runs the commands of docs/token-budgets.md as printed, in their order. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { promisify } from "node:util";
import { startTollgate } from "./tollgate.ts";

const page = readFileSync(new URL("../../../docs/token-budgets.md", import.meta.url), "utf8");
const run = promisify(execFile);

test("docs/token-budgets.md: each command prints the answer below it", async (t) => {
  const blocks = [...page.matchAll(/^```(\w+)(?: file=(\S+))?\n([\s\S]*?)\n```$/gm)];
  const [, , file, rules] = blocks.find(([, , name]) => name !== undefined)!;
  const service = await startTollgate({ config: { [file!]: rules! } });
  t.after(() => service.stop());
  let id = "";
  let commands = 0;
  for (const [index, [, kind, , command = ""]] of blocks.entries()) {
    if (kind !== "sh") continue;
    const [, next, , expected] = blocks[index + 1]!;
    assert.equal(next, "json", command);
    const text = command.replaceAll("http://localhost:8080", `http://${service.http}`).replaceAll("<id>", id);
    const { stdout } = await run("/bin/sh", ["-c", text], { encoding: "utf8" });
    id = /"reservationId":"([0-9a-f]{40})"/.exec(stdout)?.[1] ?? id;
    const shown = stdout
      .replace(/"durationUntilReset":"\d+s"/, '"durationUntilReset":"<time>"')
      .replace(/"reservationId":"[0-9a-f]{40}"/, '"reservationId":"<id>"');
    assert.equal(shown.trim(), expected);
    commands++;
  }
  assert.equal(commands, 5);
});
