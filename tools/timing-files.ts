/**
 * Finds the tests that may depend on the speed of the machine: those that read a clock, set a timer or scale a time limit,
 * and those whose helpers wait. Comments do not count, and neither do the sources under test.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";

const USES_TIME =
  /\b(setTimeout|setInterval|timers\/promises|performance\.now|Date\.now|hrtime|scaled|isTimeUp)\b/;
/** A helper that reads a clock only, for instance for a message, does not depend on speed. */
const WAITS = /\b(setTimeout|setInterval|timers\/promises|scaled|isTimeUp)\b/;
const IMPORT = /\b(?:from|import)\s*\(?\s*"(\.[^"]+\.ts)"/g;
const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;
const SOURCE = /^(packages\/[^/]+\/src|tools)\//;
const HELPER_IN_SOURCES = /\.(fixture|arbitrary)\.ts$/;

/** @returns those of `files` that may depend on speed; all paths are relative to `root` */
export function timingFiles(files: readonly string[], root: string): string[] {
  const known = new Map<string, boolean>();

  function waits(file: string): boolean {
    const before = known.get(file);
    if (before !== undefined) return before;
    // For circles of imports.
    known.set(file, false);
    const text = code(file);
    const answer = WAITS.test(text) || helpers(file, text).some(waits);
    known.set(file, answer);
    return answer;
  }

  function code(file: string): string {
    return readFileSync(resolve(root, file), "utf8").replace(COMMENT, "");
  }

  function helpers(file: string, text: string): string[] {
    return [...text.matchAll(IMPORT)]
      .map(([, path]) => relative(root, resolve(root, dirname(file), path!)))
      .filter(
        (path) => (!SOURCE.test(path) || HELPER_IN_SOURCES.test(path)) && existsSync(resolve(root, path)),
      );
  }

  return files.filter((file) => {
    const text = code(file);
    return USES_TIME.test(text) || helpers(file, text).some(waits);
  });
}
