import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";

/** The version of an npm package that is installed here. */
export function packageVersion(name: string): string {
  const path = findPackageJSON(name, import.meta.url);
  if (path === undefined) throw new Error(`the npm package ${name} is not installed: npm ci`);
  return JSON.parse(readFileSync(path, "utf8")).version;
}
