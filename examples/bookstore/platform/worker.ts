import { env } from "cloudflare:workers";
import { MemoryStore } from "../memory-store.ts";
import type { Store } from "../store.ts";

/** A worker: settings from its bindings, books in memory. */
export function openStore(): Store {
  return new MemoryStore();
}

export function readToken(): string {
  return env.BOOKSTORE_TOKEN ?? "";
}
