import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { scaled } from "../../../../tools/time-scale.ts";
import { gone, isRunning, PythonServer } from "./server.ts";

/** A server with a worker process. */
const FORKS = `import os, time
os.fork()
print("forked", flush=True)
time.sleep(600)`;

test("a server and its workers end when the test's process is killed", async () => {
  const program = `
    import { PythonServer } from ${JSON.stringify(import.meta.resolve("./server.ts"))};
    const server = new PythonServer(["/usr/bin/python3", "-c", ${JSON.stringify(FORKS)}], ".");
    await server.printed(/forked[^]*forked/);
    console.log("pids " + server.processes().join(" "));`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  after(() => child.kill("SIGKILL"));
  let pids: number[] = [];
  for await (const line of createInterface({ input: child.stdout! })) {
    if (!line.startsWith("pids ")) continue;
    pids = line.split(" ").slice(1).map(Number);
    break;
  }
  assert.equal(pids.filter(isRunning).length, 2);
  child.kill("SIGKILL");
  await once(child, "exit");
  await gone(pids, scaled(10_000));
});

test("a server that ends by itself keeps its status and its output", async () => {
  const server = new PythonServer(["/usr/bin/python3", "-c", "print('done')"], ".");
  const { status, log } = await server.ended;
  assert.deepEqual([status, log], [0, "done\n"]);
});
