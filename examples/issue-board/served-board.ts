import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { startServer } from "@tollway/waymark/server";

/** Serves the board for the tests of a file. @returns its address */
export async function serveBoard(database: "memory" | "file"): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "issue-board-"));
  process.env.BOARD_DB = database === "memory" ? "memory" : join(folder, "board.sqlite");
  process.env.BOARD_SECRET = "a secret of the tests, 32 characters or more";
  process.env.BOARD_PASSWORD_ROUNDS = "1000";
  const { application } = await import("./app.ts");
  const running = await startServer(application, { host: "127.0.0.1", port: 0 });
  after(async () => {
    await running.stop();
    rmSync(folder, { recursive: true });
  });
  return `http://127.0.0.1:${running.port}`;
}
