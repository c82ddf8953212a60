import { inspected } from "./inspected.ts";

/** Causes can be nested. A log line shows this many. */
const MAX_CAUSES = 8;

/** Characters of a logged value, where Node does not shorten it. */
const LONGEST_VALUE = 10_000;

/** Members of an error that the error's text already contains. */
const SHOWN: ReadonlySet<string> = new Set(["name", "message", "stack", "cause", "errors"]);

/** C0 and C1 controls, and the line and paragraph separators of Unicode. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\0-\x1f\x7f-\x9f\u2028\u2029]/g;

/** A caller's text as one line. A line end could forge a log line, and an escape could hide one. */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (character) => {
    if (character === "\n") return "\\n";
    if (character === "\r") return "\\r";
    if (character === "\t") return "\\t";
    const code = character.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code}` : `\\x${code.padStart(2, "0")}`;
  });
}

/**
 * An error with its stack. Messages, members and thrown values may contain a caller's text, so each becomes one line.
 */
export function errorText(error: unknown, causes = MAX_CAUSES): string {
  if (!(error instanceof Error)) return oneLine(error);
  const lines = [escapeControls(`${error.name}: ${error.message}`), ...framesOf(error)];
  const members = Object.entries(error).filter(([name]) => !SHOWN.has(name));
  if (members.length > 0) lines.push(`    ${oneLine(Object.fromEntries(members))}`);
  const inner = error instanceof AggregateError ? [...error.errors, error.cause] : [error.cause];
  for (const each of inner.slice(0, causes))
    if (each !== undefined)
      lines.push(`    [cause]: ${errorText(each, causes - 1).replaceAll("\n", "\n    ")}`);
  return lines.join("\n");
}

/**
 * The stack without name and message, which may contain lines that look like frames. The name can change after the
 * stack was taken, so the search is for the message, from the end: a frame never ends with ": <message>".
 */
function framesOf({ stack = "", name, message }: Error): string[] {
  const head = message === "" ? name : `: ${message}`;
  const at = `${stack}\n`.lastIndexOf(`${head}\n`);
  const frames = at === -1 ? "" : stack.slice(at + head.length);
  return frames
    .split("\n")
    .filter((line) => /^ {4}at /.test(line))
    .map(escapeControls);
}

function oneLine(value: unknown): string {
  return escapeControls(inspected(value) ?? plainText(value));
}

/** A value without the help of Node: JSON, else text. Never throws. */
export function plainText(value: unknown): string {
  try {
    const json = JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? `${inner}n` : inner));
    return (json ?? String(value)).slice(0, LONGEST_VALUE);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
