/** The commands that print text about the others. */
import { readVersion } from "../installation.ts";
import { nearest } from "../rules/nearest.ts";
import { completionsFor } from "./completions.ts";
import { COMMANDS, COMPLETION, HELP, MAN } from "./descriptions.ts";
import type { CommandIo } from "./io.ts";
import { manPage } from "./man-page.ts";
import { overview, usageOf } from "./usage.ts";

const isHelp = (word: string | undefined) => word === "--help" || word === "-h" || word === "-help";

export function runHelp([name, ...rest]: readonly string[], io: CommandIo): number {
  if (name === undefined) return print(overview(), io);
  const command = COMMANDS.find((one) => one.name === name);
  if (isHelp(name)) return print(usageOf(HELP), io);
  if (command === undefined) return unknownCommand(name, io);
  if (rest.length > 0) return refuse("help", `unexpected argument "${rest[0]}"`, io);
  return print(usageOf(command), io);
}

export function runCompletion([shell, ...rest]: readonly string[], io: CommandIo): number {
  if (isHelp(shell)) return print(usageOf(COMPLETION), io);
  const shells = COMPLETION.operands as readonly string[];
  if (shell === undefined) return refuse("completion", `pass a shell: ${shells.join(", ")}`, io);
  if (rest.length > 0) return refuse("completion", `unexpected argument "${rest[0]}"`, io);
  const script = completionsFor(shell);
  if (script === undefined)
    return refuse("completion", `unknown shell "${shell}": must be ${shells.join(", ")}`, io);
  return print(script, io);
}

export function runMan([first]: readonly string[], io: CommandIo): number {
  if (isHelp(first)) return print(usageOf(MAN), io);
  if (first !== undefined) return refuse("man", `unexpected argument "${first}"`, io);
  return print(manPage(readVersion()), io);
}

export function unknownCommand(name: string, io: CommandIo): number {
  const names = COMMANDS.map((command) => command.name);
  const near = nearest(name, names);
  const hint = near === undefined ? `the commands are ${names.join(", ")}` : `did you mean "${near}"?`;
  io.stderr.write(`tollgate: unknown command "${name}"; ${hint}\nSee tollgate --help.\n`);
  return 2;
}

function print(text: string, io: CommandIo): number {
  io.stdout.write(text);
  return 0;
}

function refuse(command: string, message: string, io: CommandIo): number {
  io.stderr.write(`tollgate ${command}: ${message}\nSee tollgate ${command} --help.\n`);
  return 2;
}
