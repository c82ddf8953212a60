import { check } from "./checks.ts";
import { SettingsError } from "./errors.ts";
import { withoutMeaning } from "./kinds/aliases.ts";
import { type Environment, Findings, readValues } from "./read-values.ts";
import { resolve } from "./resolve-settings.ts";
import type { Settings } from "./settings.ts";
import { table } from "./table.ts";
import { warnOfUnknown } from "./unknown.ts";

/** The settings of an environment, and what the log should say about them. */
export interface LoadedSettings {
  /** The settings, deeply frozen. */
  readonly settings: Settings;
  /** Lines of the level `warn`, without credentials. */
  readonly warnings: readonly string[];
  /** Lines of the level `info`, without credentials. */
  readonly infos: readonly string[];
  /** The given settings: the manual's name of each and the name that the environment uses. */
  readonly given: ReadonlyMap<string, string>;
}

/**
 * Reads every setting. An empty value counts as unset.
 * @throws {SettingsError} with all faults
 * @example
 * ```ts
 * import { loadSettings, SettingsError } from "@tollway/tollgate";
 *
 * try {
 *   console.log(loadSettings(process.env).settings.grpc.port);
 * } catch (error) {
 *   if (!(error instanceof SettingsError)) throw error;
 *   for (const { variable, message } of error.faults) console.error(variable, message);
 * }
 * ```
 */
export function loadSettings(environment: Environment): LoadedSettings {
  const findings = new Findings();
  const values = readValues(table, environment, findings);
  check(values, findings);
  const settings = deepFreeze(resolve(values, environment, findings));
  if (findings.faults.length > 0) throw new SettingsError(findings.faults);
  for (const { names, why, warns } of withoutMeaning) {
    const ignored = Object.keys(environment).filter((name) => names.test(name) && environment[name] !== "");
    const lines = warns ? findings.warnings : findings.infos;
    if (ignored.length > 0)
      lines.push(`ignored variables of the Go service, because ${why}: ${ignored.sort().join(", ")}`);
  }
  return {
    settings,
    warnings: [...findings.warnings, ...warnOfUnknown(environment)],
    infos: findings.infos,
    given: new Map([...findings.given].map(([name, { spelling }]) => [name, spelling])),
  };
}

/** Freezes plain objects and arrays recursively. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}
