import { isDeepStrictEqual } from "node:util";
import type { Fault } from "./errors.ts";
import { Refusal } from "./kinds/kinds.ts";
import { Setting } from "./kinds/setting.ts";
import type { ValuesOf } from "./table.ts";

/** Variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A setting that the environment gives with a value that is not empty. */
export interface Given {
  /** The name in the environment. */
  readonly spelling: string;
  /** The value with hidden credentials. */
  readonly shown: string;
}

/** The faults, warnings and infos found while settings are read and checked. */
export class Findings {
  readonly faults: Fault[] = [];
  readonly warnings: string[] = [];
  readonly infos: string[] = [];
  /** The given settings by their names in the manual. */
  readonly given = new Map<string, Given>();

  /** @param name the manual's name; the message uses the name in the environment */
  fault(name: string, message: string): void {
    const given = this.given.get(name);
    this.faults.push({ variable: given?.spelling ?? name, value: given?.shown, message });
  }

  /** The name of a setting in the environment; if it is not set, its name in the manual. */
  spelling(name: string): string {
    return this.given.get(name)?.spelling ?? name;
  }
}

/** Lists all rows of a table in order. */
export function rowsOf(group: object): Setting<unknown>[] {
  return Object.values(group).flatMap((row) => (row instanceof Setting ? [row] : rowsOf(row)));
}

/** Reads every row. For an invalid value, adds a fault and returns the default, so that checks can continue. */
export function readValues<T extends object>(
  group: T,
  environment: Environment,
  findings: Findings,
): ValuesOf<T> {
  const values = Object.entries(group).map(([key, row]) => [
    key,
    row instanceof Setting
      ? readRow(row, environment, findings)
      : readValues(row as object, environment, findings),
  ]);
  return Object.fromEntries(values);
}

/** The message for a second name of a setting with another value. */
export function conflict(name: string, shown: string): string {
  return `conflicts with ${name}=${JSON.stringify(shown)}; both are names of one setting: set only one of them`;
}

function readRow<T>(row: Setting<T>, environment: Environment, findings: Findings): T {
  let first: { name: string; text: string; value: NonNullable<T> } | undefined;
  for (const name of [row.name, ...row.aliases]) {
    const text = environment[name];
    if (text === undefined || text === "") continue;
    const shown = row.kind.mask(text);
    if (!findings.given.has(row.name)) findings.given.set(row.name, { spelling: name, shown });
    try {
      const value = row.kind.read(text);
      if (first === undefined) first = { name, text, value };
      else if (text !== first.text && !(shown === text && isDeepStrictEqual(value, first.value)))
        findings.faults.push({
          variable: name,
          value: shown,
          message: conflict(first.name, row.kind.mask(first.text)),
        });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      findings.faults.push({ variable: name, value: shown, message: error.message });
    }
  }
  return first === undefined ? row.default() : first.value;
}
