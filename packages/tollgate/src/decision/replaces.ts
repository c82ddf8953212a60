import type { Rule } from "../rules/rule.ts";

/**
 * Which of the matched rules another matched rule replaces. The names to drop are those that rules list which are
 * not dropped themselves; the loader refuses cycles, so following the names ends.
 * @param rules the rule per descriptor, undefined where there is none
 * @returns per descriptor whether its rule is dropped
 */
export function replaced(rules: readonly (Rule | undefined)[]): boolean[] {
  const state = new Array<boolean | undefined>(rules.length);
  const isDropped = (index: number): boolean => {
    const known = state[index];
    if (known !== undefined) return known;
    state[index] = false;
    const name = rules[index]?.name;
    if (name === undefined || name === "") return false;
    const dropped = rules.some(
      (other, at) => at !== index && other !== undefined && other.replaces.includes(name) && !isDropped(at),
    );
    state[index] = dropped;
    return dropped;
  };
  return rules.map((_, index) => isDropped(index));
}
