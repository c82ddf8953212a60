import { readFileSync, statSync } from "node:fs";

/** Lines shown before and after the line with the fault. */
const AROUND = 2;
/** Longest part of a line that is shown. */
const WIDTH = 110;
/** A larger file is not a source that somebody wrote. */
const LARGEST_FILE = 1024 * 1024;

const PLACE = /((?:\/|[A-Za-z]:\\)[^\n:]+\.[cm]?[jt]sx?):(\d+)(?::(\d+))?/;

/** A message with the lines of the source that it is about. */
export function withFrame(message: string): string {
  const frame = codeFrame(message);
  return frame === undefined ? message : `${message}\n\n${frame}\n`;
}

/** The lines of the source around the first place that a message names. Undefined if it names none. */
export function codeFrame(message: string): string | undefined {
  const place = PLACE.exec(message);
  if (place === null) return undefined;
  const lines = linesOf(place[1]!);
  const line = Number(place[2]);
  if (lines === undefined || line < 1 || line > lines.length) return undefined;
  return frameOf(lines, line, place[3] === undefined ? undefined : Number(place[3]));
}

function linesOf(file: string): string[] | undefined {
  try {
    return statSync(file).size > LARGEST_FILE ? undefined : readFileSync(file, "utf8").split(/\r?\n/);
  } catch {
    return undefined;
  }
}

function frameOf(lines: readonly string[], line: number, column: number | undefined): string {
  const last = Math.min(lines.length, line + AROUND);
  const digits = String(last).length;
  // Long lines are shown from the same column on, so that the caret fits all of them.
  const from = column === undefined || column < WIDTH ? 0 : column - WIDTH / 2;
  const frame: string[] = [];
  for (let number = Math.max(1, line - AROUND); number <= last; number++) {
    const mark = number === line ? ">" : " ";
    // A tab has the width of one column, as in the place of the message.
    const text = lines[number - 1]!.replaceAll("\t", " ").slice(from, from + WIDTH);
    frame.push(`${mark} ${String(number).padStart(digits)} | ${text}`.trimEnd());
    if (number === line && column !== undefined)
      frame.push(`  ${" ".repeat(digits)} | ${" ".repeat(Math.max(0, column - 1 - from))}^`);
  }
  return frame.join("\n");
}
