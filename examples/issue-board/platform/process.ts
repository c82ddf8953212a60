import { MemoryStore } from "../memory-store.ts";
import { SqliteStore } from "../sqlite-store.ts";
import type { Store } from "../store.ts";

/** Node, Bun and Deno: settings from the environment, the board in a file, or in memory for `BOARD_DB=memory`. */
export function openStore(): Store {
  const path = process.env.BOARD_DB ?? "issue-board.sqlite";
  return path === "memory" ? new MemoryStore() : new SqliteStore(path);
}

export function setting(name: string): string | undefined {
  return process.env[name];
}

/** Rounds of PBKDF2, as OWASP recommends for SHA-256. */
export const PASSWORD_ROUNDS = 600_000;

/** Whether a request may wait for something that another request does. */
export const SHARES_WAITING = true;
