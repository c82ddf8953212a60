import { isDeepStrictEqual } from "node:util";
import type { Fault } from "./errors.ts";
import { Refusal } from "./kinds.ts";
import { Setting } from "./setting.ts";
import type { ValuesOf } from "./table.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable that was set, and not to nothing. */
export interface Given {
  /** The name that was used. */
  readonly spelling: string;
  /** Credentials hidden. */
  readonly shown: string;
}

/** What reading and checking come upon. */
export class Findings {
  readonly faults: Fault[] = [];
  readonly warnings: string[] = [];
  readonly infos: string[] = [];
  /** By the name that the manual uses. */
  readonly given = new Map<string, Given>();

  /** @param name as the manual spells it; the message names it as it was spelled */
  fault(name: string, message: string): void {
    const given = this.given.get(name);
    this.faults.push({ variable: given?.spelling ?? name, value: given?.shown, message });
  }

  /** The name that was used for a setting, else the manual's. */
  spelling(name: string): string {
    return this.given.get(name)?.spelling ?? name;
  }
}

/** All rows of a table, in their order. */
export function rowsOf(group: object): Setting<unknown>[] {
  return Object.values(group).flatMap((row) => (row instanceof Setting ? [row] : rowsOf(row)));
}

/** Reads every row; what cannot be read is a fault, and its default stands in so that the rest can be checked. */
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
          message: `says another thing than ${first.name}=${JSON.stringify(row.kind.mask(first.text))}; they are two names for one setting: set one of them`,
        });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      findings.faults.push({ variable: name, value: shown, message: error.message });
    }
  }
  return first === undefined ? row.default() : first.value;
}
