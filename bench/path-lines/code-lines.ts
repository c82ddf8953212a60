import { readFileSync } from "node:fs";
import { parseSync } from "oxc-parser";

/** Returns the numbers of a module's lines with code, from 0. Blanks out comments first. */
export function codeLines(file: string): Set<number> {
  const numbers = new Set<number>();
  for (const [number, line] of withoutComments(file).split("\n").entries())
    if (line.trim() !== "") numbers.add(number);
  return numbers;
}

/** Returns the text of a module with spaces in place of its comments, so that all positions stay. */
export function withoutComments(file: string): string {
  let text = readFileSync(file, "utf8");
  for (const { start, end } of parseSync(file, text).comments)
    text = text.slice(0, start) + text.slice(start, end).replace(/[^\n]/g, " ") + text.slice(end);
  return text;
}
