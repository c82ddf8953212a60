import { existsSync } from "node:fs";
import { basename } from "node:path";
import type { SourceModule } from "./scope.ts";

const MAP_COMMENT = /^[#@]\s*sourceMappingURL=\S/;
/** Extensions of files that a compiler reads or writes beside its output. */
const BESIDE = [".ts", ".mts", ".cts", ".tsx", ".d.ts", ".d.mts", ".d.cts"];

/**
 * The evidence that a JavaScript file was compiled from TypeScript, which erased its types. Undefined if there is
 * none.
 */
export function compilationSign({ typed, comments, source }: SourceModule): string | undefined {
  if (typed) return undefined;
  if (comments.some(({ value }) => MAP_COMMENT.test(value))) return "its source map comment shows it";
  const stem = source.file.replace(/\.[cm]?js$/, "");
  const beside = BESIDE.map((extension) => stem + extension).find((path) => existsSync(path));
  return beside && `${basename(beside)} beside it shows it`;
}
