import { createRequire } from "node:module";
import { aliasesOf } from "./aliases.ts";
import { Refusal } from "./kinds.ts";
import { type Pairs, pairs } from "./list-kinds.ts";
import type { Environment, Findings } from "./reading.ts";
import type { Mogrifier } from "./settings.ts";

const PREFIX = "AGENTSTATS_MOGRIFIER_";

/** One variable of one mogrifier, under either of its names. */
function find(
  name: string,
  part: string,
  environment: Environment,
  findings: Findings,
): { variable: string; text: string | undefined } {
  const variable = `${PREFIX}${name}_${part}`;
  const set = [variable, ...aliasesOf(variable)].filter((spelling) => (environment[spelling] ?? "") !== "");
  const [first, second] = set;
  if (second !== undefined && environment[first!] !== environment[second])
    findings.faults.push({
      variable: second,
      value: environment[second],
      message: `says another thing than ${first}=${JSON.stringify(environment[first!])}; they are two names for one setting: set one of them`,
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
    if (bare !== undefined) throw new Refusal(`must give the tag ${bare[0]} a value`);
    return tags;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    findings.faults.push({ variable, value: text, message: error.message });
    return [];
  }
}

function faultOfPattern(pattern: string): string | undefined {
  // Loaded only where there are mogrifiers: 5 ms less for every other start.
  const { RE2JS } = createRequire(import.meta.url)("re2js") as typeof import("re2js");
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return `must be a regular expression (RE2): ${(error as Error).message}`;
  }
}

/** Variables of a mogrifier that no list names: most likely a slip. */
export function strayMogrifiers(names: readonly string[], environment: Environment): string[] {
  const known = new Set(names.map((name) => name.toUpperCase()));
  return Object.keys(environment).filter((variable) => {
    const id = /^(?:AGENTSTATS|DOG_STATSD)_MOGRIFIER_(.+)_(?:PATTERN|NAME|TAGS)$/.exec(variable)?.[1];
    return id !== undefined && !known.has(id);
  });
}

/** Whether a variable belongs to the family at all. */
export function isMogrifierVariable(variable: string): boolean {
  return /^(?:AGENTSTATS|DOG_STATSD)_MOGRIFIER_.+_(?:PATTERN|NAME|TAGS)$/.test(variable);
}
