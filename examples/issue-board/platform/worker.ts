import { env } from "cloudflare:workers";
import { MemoryStore } from "../memory-store.ts";
import type { Store } from "../store.ts";

/** A worker: settings from its bindings, the board in memory. */
export function openStore(): Store {
  return new MemoryStore();
}

export function setting(name: string): string | undefined {
  return env[name];
}

/** Workers refuse more rounds. */
export const PASSWORD_ROUNDS = 100_000;

/** A worker may not resolve the promise of another request. */
export const SHARES_WAITING = false;
