import type { Diagnostic } from "../rules/diagnostic.ts";
import type { LoadDiagnostic, LoadEntry } from "./messages.ts";
import { placeOf, shown } from "./rule-texts.ts";

/** Loads that are kept. */
const MAX_LOADS = 20;
/** Diagnostics of one load that are kept; errors first. */
const MAX_DIAGNOSTICS = 50;

/** The last loads of the configuration. */
export class LoadLog {
  #entries: readonly LoadEntry[] = [];
  #count = 0;

  /** Grows with each load. */
  get count(): number {
    return this.#count;
  }

  /** The newest first. */
  get entries(): readonly LoadEntry[] {
    return this.#entries;
  }

  loaded(domains: number, rules: number, diagnostics: readonly Diagnostic[]): void {
    this.#add({ succeeded: true, domains, rules }, diagnostics);
  }

  failed(diagnostics: readonly Diagnostic[]): void {
    this.#add({ succeeded: false, domains: 0, rules: 0 }, diagnostics);
  }

  /** The last load failed once more, with the same errors. */
  repeated(): void {
    const [last, ...others] = this.#entries;
    if (last === undefined) return;
    this.#count++;
    this.#entries = [{ ...last, repeated: last.repeated + 1 }, ...others];
  }

  #add(entry: Pick<LoadEntry, "succeeded" | "domains" | "rules">, diagnostics: readonly Diagnostic[]): void {
    this.#count++;
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    const warnings = diagnostics.filter(({ severity }) => severity === "warning");
    const kept = [...errors, ...warnings].slice(0, MAX_DIAGNOSTICS).map(shorten);
    this.#entries = [
      {
        ...entry,
        time: Date.now(),
        repeated: 0,
        errors: errors.length,
        warnings: warnings.length,
        diagnostics: kept,
      },
      ...this.#entries,
    ].slice(0, MAX_LOADS);
  }
}

function shorten({ severity, code, message, location, sourceLine }: Diagnostic): LoadDiagnostic {
  return {
    severity,
    code,
    message: shown(message),
    place: placeOf(location),
    ...(sourceLine !== undefined && { sourceLine: shown(sourceLine) }),
  };
}
