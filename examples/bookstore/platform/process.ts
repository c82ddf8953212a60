import { SqliteStore } from "../sqlite-store.ts";
import type { Store } from "../store.ts";

/** Node, Bun and Deno: settings from the environment, books in a file. */
export function openStore(): Store {
  return new SqliteStore(process.env.BOOKSTORE_DB ?? "bookstore.sqlite");
}

export function readToken(): string {
  return process.env.BOOKSTORE_TOKEN ?? "";
}
