import type { Registry } from "./registry.ts";
import type { SnapshotOptions } from "./snapshot.ts";

/** The whole page `/stats`. */
export async function pageOf(registry: Registry, options?: SnapshotOptions): Promise<string> {
  let page = "";
  for await (const piece of registry.snapshot(options)) page += piece;
  return page;
}
