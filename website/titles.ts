import { readFileSync } from "node:fs";
import { join } from "node:path";
import { docs } from "./content.ts";

/** The first heading of a page below `docs/`, without marks of Markdown. */
export function titleOf(page: string): string {
  const heading = /^# +(.+)$/m.exec(readFileSync(join(docs, page), "utf8"))?.[1];
  if (heading === undefined) throw new Error(`docs/${page} has no first heading ("# ...")`);
  return heading.replaceAll(/[`*]/g, "");
}
