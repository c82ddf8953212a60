import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { scaled } from "../../../../tools/time-scale.ts";
import { certificates } from "./certificates.ts";
import { MemcachedServer } from "./memcached.ts";
import { RedisServer } from "./redis.ts";

/** Starts servers, one of them stopped, for the test to kill this process. */
async function startAll(): Promise<void> {
  const redis = await RedisServer.start();
  const stopped = await RedisServer.start();
  await stopped.pause();
  const memcached = await MemcachedServer.start();
  const pids = [redis.pid, stopped.pid, memcached.pid];
  const folders = [
    dirname(redis.socketPath),
    dirname(stopped.socketPath),
    memcached.folder,
    certificates().folder,
  ];
  console.log(JSON.stringify({ pids, folders }));
  await sleep(60_000);
}

if (process.argv[2] === "start-all") await startAll();
else
  test("a killed process leaves no servers and no folders", async () => {
    const child = spawn(process.execPath, [import.meta.filename, "start-all"], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    });
    const line = await new Promise<Buffer>((resolve) => child.stdout.once("data", resolve));
    const { pids, folders } = JSON.parse(line.toString()) as { pids: number[]; folders: string[] };
    const running = (pid: number) => {
      try {
        return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
      } catch {
        return false;
      }
    };
    assert.ok(pids.every(running) && folders.every((folder) => existsSync(folder)));
    child.kill("SIGKILL");
    const latest = Date.now() + scaled(10_000);
    while (pids.some(running) || folders.some((folder) => existsSync(folder))) {
      assert.ok(
        Date.now() < latest,
        `left behind: ${pids.filter(running)} ${folders.filter((f) => existsSync(f))}`,
      );
      await sleep(20);
    }
  });
