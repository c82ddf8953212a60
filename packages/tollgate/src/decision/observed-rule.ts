import type { RuleKeys } from "../observe/top-keys/thread-top-keys.ts";
import type { Match } from "../rules/rule.ts";

/** What an observer of decisions knows of a rule. Made once for each rule of a rule set. */
export interface ObservedRule {
  /** Where its keys are counted. */
  readonly keys: RuleKeys;
  readonly sharedValues: Match["sharedValues"];
}

export interface RuleObserver {
  ruleOf(match: Match): ObservedRule;
}
