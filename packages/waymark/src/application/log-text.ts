import { inspect } from "node:util";

/** A cause may have a cause, and so on: no log line needs more of them. */
const MAX_CAUSES = 8;

/** Members of an error that its text shows already. */
const SHOWN: ReadonlySet<string> = new Set(["name", "message", "stack", "cause", "errors"]);

/** C0 and C1 controls, and the line and paragraph separators of Unicode. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\0-\x1f\x7f-\x9f\u2028\u2029]/g;

/** Text of a caller as one line: a line end in it could forge a line of the log, an escape could hide one. */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (character) => {
    if (character === "\n") return "\\n";
    if (character === "\r") return "\\r";
    if (character === "\t") return "\\t";
    const code = character.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code}` : `\\x${code.padStart(2, "0")}`;
  });
}

/** An error with its stack. All that may hold text of a caller is one line: messages, members, thrown values. */
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

/** The stack without name and message, which may hold lines that look like frames. */
function framesOf({ stack = "", name, message }: Error): string[] {
  const head = message === "" ? name : message;
  const at = stack.indexOf(head);
  const frames = at === -1 ? "" : stack.slice(at + head.length);
  return frames
    .split("\n")
    .filter((line) => /^ +at /.test(line))
    .map(escapeControls);
}

function oneLine(value: unknown): string {
  return escapeControls(inspect(value, { breakLength: Number.POSITIVE_INFINITY, compact: true }));
}
