import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

const LAUNCHER = fileURLToPath(new URL("../../../packages/waymark/bin/waymark.mjs", import.meta.url));

/** Starts the board as its README says, until the tests end. @returns its address */
export async function startBoard(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "issue-board-"));
  const child = spawn(process.execPath, [LAUNCHER, "--app=app.ts", "--host=127.0.0.1:0", "--quiet"], {
    cwd: join(import.meta.dirname, ".."),
    env: {
      ...process.env,
      BOARD_DB: join(folder, "board.sqlite"),
      BOARD_SECRET: "a secret of the tests, 32 characters or more",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  after(async () => {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
    rmSync(folder, { recursive: true });
  });
  for await (const piece of child.stdout) {
    const url = /http:\S+/.exec(String(piece))?.[0];
    if (url !== undefined) return url;
  }
  throw new Error("the board does not start");
}
