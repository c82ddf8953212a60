import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isTimeUp, scaled } from "../../../tools/time-scale.ts";
import { bareEnvironment, watchTollgate } from "./tollgate.ts";

const repository = fileURLToPath(new URL("../../..", import.meta.url));

/** The processes below a process. */
function descendants(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  const children = text === "" ? [] : text.split(" ").map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

function alive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

type Receiver = "npm" | "the process group, as from a terminal";

// npm passes a signal to the shell that it started. The shell ends and leaves its command running, or waits for it.
const cases: readonly (readonly [command: string, signal: NodeJS.Signals, receiver: Receiver])[] = [
  ["npm start", "SIGTERM", "npm"],
  ["npm start", "SIGINT", "npm"],
  ["npm start", "SIGKILL", "npm"],
  ["npm start", "SIGINT", "the process group, as from a terminal"],
  ["npx tollgate serve --example", "SIGTERM", "npm"],
  ["npx tollgate serve --example", "SIGKILL", "npm"],
  ["npx tollgate serve --example", "SIGINT", "the process group, as from a terminal"],
];

for (const [line, signal, receiver] of cases)
  test(`${line}: leaves no server behind after ${signal} to ${receiver}`, {
    timeout: scaled(60_000),
  }, async () => {
    const [command, ...args] = line.split(" ");
    const path = `${repository}/node_modules/node/bin:${process.env.PATH}`;
    const env = {
      ...bareEnvironment,
      PATH: path,
      PORT: "0",
      GRPC_PORT: "0",
      DEBUG_PORT: "0",
      WORKERS: "1",
    };
    const child = spawn(command!, args, {
      cwd: repository,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const npm = watchTollgate(child);
    await npm.logged(/Listening for HTTP on/);
    const processes = descendants(child.pid!);
    assert.ok(processes.length > 0);
    try {
      process.kill(receiver === "npm" ? child.pid! : -child.pid!, signal);
      const begun = performance.now();
      while (processes.some(alive)) {
        assert.ok(!isTimeUp(begun, 20_000), `still running: ${processes.filter(alive).join(" ")}`);
        await sleep(20);
      }
    } finally {
      for (const pid of processes.filter(alive)) process.kill(pid, "SIGKILL");
    }
  });
