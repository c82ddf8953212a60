import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { userEnvironment } from "../../../tools/user-environment.ts";
import { CONTROLLERS, checkFirstMinute } from "./support/first-minute.ts";
import { command, installPacked } from "./support/packed.ts";

test("the first minute works from the packed package, in an empty folder after npm init -y", async () => {
  const folder = await installPacked("waymark");
  const installed = JSON.parse(
    readFileSync(join(folder, "node_modules/@tollway/waymark/package.json"), "utf8"),
  ) as { engines: unknown; exports: unknown; scripts?: unknown };
  assert.deepEqual(installed.engines, { node: ">=24" });
  assert.deepEqual((installed.exports as Record<string, unknown>)["./client"], {
    types: "./dist/client.d.ts",
    default: "./dist/client.js",
  });
  for (const file of targets(installed.exports)) {
    assert.match(file, /^\.\/dist\//);
    assert.ok(existsSync(join(folder, "node_modules/@tollway/waymark", file)), file);
  }
  writeFileSync(join(folder, "controllers.ts"), CONTROLLERS);
  // A process group of its own: npx starts the server as a child, and a terminal would signal both.
  const child = spawn("npx", ["waymark", "--prefix=controllers", "--host=localhost:0"], {
    cwd: folder,
    env: userEnvironment(),
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const stop = () => {
    try {
      process.kill(-child.pid!, "SIGTERM");
    } catch {
      // It has already ended.
    }
  };
  after(stop);
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  await checkFirstMinute(/http:\S+/.exec(line.toString())![0]);
  stop();
  await once(child, "exit");
  assert.match(await command(folder, "npx", "waymark", "routes"), /^GET {3}\/ /m);
});

/** Every file that the conditions of an entry name. */
function targets(exports: unknown): string[] {
  return typeof exports === "string" ? [exports] : Object.values(exports as object).flatMap(targets);
}
