import { createRequire } from "node:module";
import { aliasesOf } from "./kinds/aliases.ts";
import { Refusal } from "./kinds/kinds.ts";
import { type Pairs, pairs } from "./kinds/list-kinds.ts";
import { conflict, type Environment, type Findings } from "./read-values.ts";
import type { Mogrifier } from "./settings.ts";

const PREFIX = "AGENTSTATS_MOGRIFIER_";

/** Finds one variable of one mogrifier by either of its names. */
function find(
  name: string,
  part: string,
  environment: Environment,
  findings: Findings,
): { variable: string; text: string | undefined } {
  const variable = `${PREFIX}${name}_${part}`;
  const set = [variable, ...aliasesOf(variable)].filter((spelling) => (environment[spelling] ?? "") !== "");
  const [first, second] = set;
  if (first !== undefined && second !== undefined && environment[first] !== environment[second])
    findings.faults.push({
      variable: second,
      value: environment[second],
      message: conflict(first, environment[first] ?? ""),
    });
  return { variable: first ?? variable, text: first === undefined ? undefined : environment[first] };
}

/** Reads the three variables of every mogrifier in the list. */
export function readMogrifiers(
  names: readonly string[],
  environment: Environment,
  findings: Findings,
): readonly Mogrifier[] {
  return names.flatMap((name) => {
    const id = name.toUpperCase();
    const pattern = find(id, "PATTERN", environment, findings);
    const replacement = find(id, "NAME", environment, findings);
    const tags = find(id, "TAGS", environment, findings);
    const needed = `must be set, because the list of mogrifiers names ${name}`;
    for (const { variable, text } of [pattern, replacement])
      if (text === undefined) findings.faults.push({ variable, value: undefined, message: needed });
    if (pattern.text !== undefined) {
      const fault = faultOfPattern(pattern.text);
      if (fault !== undefined)
        findings.faults.push({ variable: pattern.variable, value: pattern.text, message: fault });
    }
    const read = readTags(tags.text, tags.variable, findings);
    if (pattern.text === undefined || replacement.text === undefined) return [];
    return [{ name, pattern: pattern.text, replacement: replacement.text, tags: read }];
  });
}

function readTags(text: string | undefined, variable: string, findings: Findings): Pairs<string> {
  if (text === undefined) return [];
  try {
    const tags = pairs.read(text);
    const bare = tags.find(([, value]) => value === "");
    if (bare !== undefined) throw new Refusal(`must contain a value for the tag ${bare[0]}`);
    return tags;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    findings.faults.push({ variable, value: text, message: error.message });
    return [];
  }
}

function faultOfPattern(pattern: string): string | undefined {
  // Loaded on demand: loading takes 5 ms, and few deployments have mogrifiers.
  const { RE2JS } = createRequire(import.meta.url)("re2js") as typeof import("re2js");
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return `must be a regular expression (RE2): ${(error as Error).message}`;
  }
}

/** Lists the variables of mogrifiers that the list of mogrifiers does not name. */
export function strayMogrifiers(names: readonly string[], environment: Environment): string[] {
  const known = new Set(names.map((name) => name.toUpperCase()));
  return Object.keys(environment).filter((variable) => {
    const id = /^(?:AGENTSTATS|DOG_STATSD)_MOGRIFIER_(.+)_(?:PATTERN|NAME|TAGS)$/.exec(variable)?.[1];
    return id !== undefined && !known.has(id);
  });
}

/** Whether a variable is a setting of a mogrifier. */
export function isMogrifierVariable(variable: string): boolean {
  return /^(?:AGENTSTATS|DOG_STATSD)_MOGRIFIER_.+_(?:PATTERN|NAME|TAGS)$/.test(variable);
}
