import type { Rule } from "../rules/rule.ts";
import { ruleKey } from "../simulate/rule-key.ts";
import { newSpan, type Span } from "./timeline.ts";

/** The name of a row for limits that come with requests. */
export const OWN_LIMIT = "(limit of the request)";

/** The decisions with one recorded rule and one rule of the candidate. */
export interface RuleChange extends Span {
  /** The rule in the log. Undefined if none matched. */
  readonly before: string | undefined;
  /** The rule of the candidate. Undefined if none matches. */
  readonly now: string | undefined;
  readonly rule: Rule | undefined;
}

/** Recorded names beyond this number are taken for one. They come from the log, which may be damaged. */
const MAX_NAMES = 100_000;
/** Characters of a recorded name. */
const LONGEST_NAME = 1000;
const OTHERS = "(other rules)";

/** Sums for each pair of a recorded rule and a rule of the candidate. */
export class RuleChanges {
  readonly #byRule = new Map<Rule | undefined, Map<string | undefined, RuleChange>>();
  readonly #own: RuleChange = { before: OWN_LIMIT, now: OWN_LIMIT, rule: undefined, ...newSpan() };
  #names = 0;

  /** @param isOwn whether the limit came with the request */
  of(before: string | undefined, rule: Rule | undefined, isOwn: boolean): RuleChange {
    if (isOwn) return this.#own;
    let byName = this.#byRule.get(rule);
    if (byName === undefined) {
      byName = new Map();
      this.#byRule.set(rule, byName);
    }
    const known = byName.get(before);
    if (known !== undefined) return known;
    if (before !== undefined && before.length > LONGEST_NAME)
      return this.of(before.slice(0, LONGEST_NAME), rule, false);
    if (this.#names >= MAX_NAMES && before !== OTHERS) return this.of(OTHERS, rule, false);
    this.#names++;
    const made = { before, now: rule && ruleKey(rule), rule, ...newSpan() };
    byName.set(before, made);
    return made;
  }

  /** The rows with the most changes first, then those with the most decisions. */
  list(): readonly RuleChange[] {
    const all = [...this.#byRule.values()].flatMap((byName) => [...byName.values()]);
    const changes = ({ newlyRefused, newlyPass }: RuleChange) => newlyRefused + newlyPass;
    return [...all, this.#own]
      .filter(({ decisions }) => decisions > 0)
      .sort((a, b) => changes(b) - changes(a) || b.decisions - a.decisions);
  }
}
