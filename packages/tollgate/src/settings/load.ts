import { withoutMeaning } from "./aliases.ts";
import { check } from "./checks.ts";
import { SettingsError } from "./errors.ts";
import { deepFreeze } from "./freeze.ts";
import { type Environment, Findings, readValues } from "./reading.ts";
import { resolve } from "./resolve.ts";
import type { Settings } from "./settings.ts";
import { table } from "./table.ts";
import { warnOfUnknown } from "./unknown.ts";

export interface LoadedSettings {
  readonly settings: Settings;
  /** One line each, for the log; no credential stands in them. */
  readonly warnings: readonly string[];
  readonly infos: readonly string[];
  /** What was set: the manual's name of each variable and the name that was used for it. */
  readonly given: ReadonlyMap<string, string>;
}

/**
 * Reads every setting. An empty value counts as none.
 * @throws {SettingsError} with all faults at once
 */
export function loadSettings(environment: Environment): LoadedSettings {
  const findings = new Findings();
  const values = readValues(table, environment, findings);
  check(values, findings);
  const settings = deepFreeze(resolve(values, environment, findings));
  if (findings.faults.length > 0) throw new SettingsError(findings.faults);
  const ignored = Object.keys(environment).filter((name) => withoutMeaning.some((one) => one.test(name)));
  if (ignored.length > 0) findings.infos.push(`without meaning here, ignored: ${ignored.sort().join(", ")}`);
  return {
    settings,
    warnings: [...findings.warnings, ...warnOfUnknown(environment)],
    infos: findings.infos,
    given: new Map([...findings.given].map(([name, { spelling }]) => [name, spelling])),
  };
}
