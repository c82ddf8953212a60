import type { Registry } from "./registry.ts";
import type { SnapshotOptions } from "./stats-page.ts";

/** Reads the whole page `/stats`. */
export async function pageOf(registry: Registry, options?: SnapshotOptions): Promise<string> {
  let page = "";
  for await (const piece of registry.snapshot(options)) page += piece;
  return page;
}
