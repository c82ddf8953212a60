import { createRequire } from "node:module";

/** Loads RE2's syntax on demand: it takes 3 MB, and few deployments have an expression. */
export function loadRe2(): typeof import("re2js") {
  return createRequire(import.meta.url)("re2js") as typeof import("re2js");
}
