import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isRuleFile, staysInside } from "./read-files.ts";

/** Lines before and after the requested one. */
const AROUND = 200;
/** A longer line is cut. */
const MAX_LINE = 500;
/** Maximum bytes of a file that is read for an excerpt. */
const MAX_SIZE = 32 * 1024 * 1024;

/** Some lines of a configuration file. */
export interface Excerpt {
  readonly file: string;
  /** The number of the first line of `lines`. */
  readonly first: number;
  readonly lines: readonly string[];
  readonly total: number;
}

/**
 * Reads the lines around a line of a configuration file. Undefined if the directory has no such file, or if the file is
 * a link to one outside it, whose text messages do not quote either.
 * @param path as rules name it: the directory and the name
 */
export async function readExcerpt(
  directory: string,
  ignoreDotFiles: boolean,
  path: string,
  line: number,
): Promise<Excerpt | undefined> {
  try {
    // The name comes from a list: a request cannot lead out of the directory.
    const name = (await readdir(directory)).find((one) => join(directory, one) === path);
    if (name === undefined || !isRuleFile(name, ignoreDotFiles)) return undefined;
    const found = await stat(path);
    if (!found.isFile() || found.size > MAX_SIZE || !(await staysInside(path, directory))) return undefined;
    const all = (await readFile(path, "utf8")).split(/\r\n?|\n/);
    if (all.at(-1) === "") all.pop();
    const wanted = Math.min(Math.max(1, Math.trunc(line)), Math.max(all.length, 1));
    const first = Math.max(1, wanted - AROUND);
    const lines = all.slice(first - 1, wanted + AROUND).map((text) => text.slice(0, MAX_LINE));
    return { file: path, first, lines, total: all.length };
  } catch {
    return undefined;
  }
}
