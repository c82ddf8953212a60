import type { Diagnostic } from "../rules/diagnostic.ts";
import type { IndexedRuleSet } from "../rules/rule-set.ts";

/** What a source tells the service. Called one at a time; never again once `stop` was called. */
export interface SourceEvents {
  /**
   * A load went well: these rules are to be used from now on.
   * @param diagnostics warnings
   */
  onRules(ruleSet: IndexedRuleSet, diagnostics: readonly Diagnostic[]): void;
  /**
   * A load failed: the rules of the last good one stay in force.
   * @param diagnostics errors, and the warnings among them
   */
  onError(diagnostics: readonly Diagnostic[]): void;
  /** A load failed with the same errors as the load before it. The source logs such loads together. */
  onRepeatedError(): void;
}

/** Where rules come from: watches it, loads, and says how each load went. */
export interface RuleSource {
  /** Loads, and from then on whenever something has changed. */
  start(): void;
  /** Loads now, whatever has changed. */
  reload(): void;
  /** Lets go of watches, connections and timers. */
  stop(): Promise<void>;
}
