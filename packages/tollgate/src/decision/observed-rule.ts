import type { RuleKeys } from "../observe/top-keys/thread-top-keys.ts";
import type { Match } from "../rules/rule.ts";

/** The data about a rule that an observer of decisions gets. Made once for each rule of a rule set. */
export interface ObservedRule {
  /** The domain and the levels, joined by dots: `basic.key1_value1`. */
  readonly rule: string;
  /** `basic.yaml:12`; empty for limits that come with requests. */
  readonly file: string;
  /** The counts of its keys; undefined if top keys are off. */
  readonly keys: RuleKeys | undefined;
  readonly sharedValues: Match["sharedValues"];
}

export interface RuleObserver {
  ruleOf(match: Match): ObservedRule;
}
