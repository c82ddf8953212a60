import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { message } from "../support/decision.ts";
import { median, spread } from "../support/figures.ts";
import { freePort, METHOD, rulesFolder } from "../support/tollgate.ts";
import type { Budget } from "./budget.ts";

const RUNS = 7;
const bin = join(import.meta.dirname, "..", "..", "packages", "tollgate", "bin", "tollgate.mjs");

/** Measures the time from the command to the first gRPC response, and the run time of an empty Node program. */
export const start: Budget = async () => {
  const cache = mkdtempSync(join(tmpdir(), "bench-start-"));
  const folder = rulesFolder();
  const own: number[] = [];
  const node: number[] = [];
  try {
    // The first run fills the compile cache.
    for (let run = 0; run <= RUNS; run++) {
      const [ready, empty] = [await startOnce(folder.root, cache), await emptyOnce()];
      if (run === 0) continue;
      own.push(ready);
      node.push(empty);
    }
  } finally {
    folder.remove();
    rmSync(cache, { recursive: true, force: true });
  }
  return [
    {
      budget: "start to first response: under 300 ms",
      figure: `${spread(own, 0)} ms`,
      baseline: `an empty Node program: ${spread(node, 0)} ms`,
      met: median(own) < 300,
    },
  ];
};

async function startOnce(root: string, cache: string): Promise<number> {
  const [grpc, http, debug] = [await freePort(), await freePort(), await freePort()];
  const from = performance.now();
  const child = spawn(process.execPath, [bin], {
    stdio: "ignore",
    env: {
      PATH: process.env.PATH ?? "",
      NODE_COMPILE_CACHE: cache,
      RUNTIME_ROOT: root,
      RUNTIME_SUBDIRECTORY: "bench",
      BACKEND_TYPE: "embedded",
      DISABLE_STATS: "true",
      WORKERS: "1",
      HOST: "127.0.0.1",
      GRPC_HOST: "127.0.0.1",
      DEBUG_HOST: "127.0.0.1",
      GRPC_PORT: String(grpc),
      PORT: String(http),
      DEBUG_PORT: String(debug),
    },
  });
  try {
    await untilResponse(grpc);
    return performance.now() - from;
  } finally {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }
}

/** Sends requests until there is a response. */
async function untilResponse(port: number): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await request(port))) {
    if (performance.now() > deadline) throw new Error("Tollgate did not respond within 20 s");
    await pause(1);
  }
}

const framed = Buffer.concat([Buffer.alloc(5), message("user=ann")]);
framed.writeUInt32BE(framed.length - 5, 1);

/** Sends one request. Resolves with whether a message arrived. */
function request(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const session = connect(`http://127.0.0.1:${port}`);
    const end = (isAnswered: boolean): void => {
      session.destroy();
      resolve(isAnswered);
    };
    session.on("error", () => end(false));
    const stream = session.request({
      ":method": "POST",
      ":path": METHOD,
      "content-type": "application/grpc",
      te: "trailers",
    });
    stream.on("error", () => end(false));
    stream.on("data", () => end(true));
    stream.end(framed);
  });
}

async function emptyOnce(): Promise<number> {
  const from = performance.now();
  await once(spawn(process.execPath, ["--eval", "0"], { stdio: "ignore" }), "exit");
  return performance.now() - from;
}
