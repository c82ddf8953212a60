import { MANUAL } from "../text/manual.ts";
import type { CommandDescription, FlagDescription } from "./description.ts";
import { COMMANDS } from "./descriptions.ts";

const WIDTH = 120;

/** The help of a command. */
export function usageOf(command: CommandDescription): string {
  const lines = [`usage: tollgate ${command.name} ${command.synopsis}`.trimEnd(), ""];
  for (const paragraph of command.text) lines.push(...wrap(paragraph, 0));
  if (command.flags.length > 0) {
    const left = Math.max(...command.flags.map((flag) => shown(flag).length)) + 5;
    lines.push("");
    for (const flag of command.flags) {
      const [first, ...rest] = wrap(flag.text, left);
      lines.push(`  ${shown(flag)}`.padEnd(left) + first!.slice(left), ...rest);
    }
  }
  const exit = command.exit.map(([status, meaning]) => `${status} ${meaning}`).join(", ");
  lines.push("", ...wrap(`Exit status: ${exit}.`, 0));
  return `${lines.join("\n")}\n`;
}

/** The help without a command. */
export function overview(): string {
  const left = Math.max(...COMMANDS.map(({ name }) => name.length)) + 5;
  const rows = COMMANDS.map(({ name, summary }) => `  ${name}`.padEnd(left) + summary);
  return `usage: tollgate [command] [options]\n\n${rows.join("\n")}\n\n  -h, --help, -v, --version\n\nSee tollgate help COMMAND for each command.\nManual: ${MANUAL}\n`;
}

function shown({ name, value }: FlagDescription): string {
  return value === undefined ? `-${name}` : `-${name} ${value}`;
}

/** Breaks text at spaces. Each line starts with `indent` spaces. */
function wrap(text: string, indent: number): string[] {
  const margin = " ".repeat(indent);
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent + line.length + 1 + word.length > WIDTH) {
      lines.push(margin + line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, margin + line];
}
