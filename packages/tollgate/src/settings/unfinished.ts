import type { Findings } from "./reading.ts";
import type { Settings } from "./settings.ts";

/** A setting whose behaviour is still to be built. Whoever builds it strikes its line out. */
export interface Unfinished {
  readonly variable: string;
  /** Whether the settings ask for what is not there. */
  asked(settings: Settings): boolean;
  /**
   * `refused`: going on without it would change decisions, storage or security, so the service does not start.
   * `warned`: it starts, and says that the setting does nothing yet.
   */
  readonly effect: "refused" | "warned";
}

export const unfinished: readonly Unfinished[] = [];

/** Says of every setting that was given and does nothing yet that it does nothing yet. */
export function reportUnfinished(settings: Settings, findings: Findings, list = unfinished): void {
  for (const { variable, asked, effect } of list) {
    if (!findings.given.has(variable) || !asked(settings)) continue;
    if (effect === "refused") findings.fault(variable, "must not be set: it is not supported yet");
    else findings.warnings.push(`${findings.spelling(variable)} is not supported yet and has no effect`);
  }
}
