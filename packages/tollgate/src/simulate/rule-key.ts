import type { Rule } from "../rules/rule.ts";

/** The name of a rule in tests, reports and the decision log: the domain and the levels, joined with dots. */
export function ruleKey({ domain, path }: Pick<Rule, "domain" | "path">): string {
  return `${domain}.${path.join(".")}`;
}
