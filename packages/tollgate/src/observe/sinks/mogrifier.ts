import type { RE2JS } from "re2js";
import type { Tag } from "../names.ts";
import { loadRe2 } from "../re2.ts";
import { SinkConfigError } from "../sink-config-error.ts";

/** Settings of one mogrifier of `AGENTSTATS_MOGRIFIERS`. */
export interface MogrifierOptions {
  /** The name in the list. */
  readonly name: string;
  /** `AGENTSTATS_MOGRIFIER_<NAME>_PATTERN`: RE2 syntax; may match anywhere in a name. */
  readonly pattern: string;
  /** `AGENTSTATS_MOGRIFIER_<NAME>_NAME`: may contain `$0` (the whole match) and `$1`, `$2`, ... */
  readonly emit: string;
  /** `AGENTSTATS_MOGRIFIER_<NAME>_TAGS`: values may contain the same references. */
  readonly tags: Readonly<Record<string, string>>;
}

/** Renames a statistic and adds tags; undefined if the pattern does not match. */
export type Mogrifier = (
  name: string,
) => { readonly name: string; readonly tags: readonly Tag[] } | undefined;

/**
 * Compiles mogrifiers into one that tries them in list order. The first match wins.
 * @throws {SinkConfigError} with the name of the invalid variable
 */
export function compileMogrifiers(list: readonly MogrifierOptions[]): Mogrifier {
  const mogrifiers = list.map(compile);
  return (name) => {
    for (const mogrify of mogrifiers) {
      const result = mogrify(name);
      if (result !== undefined) return result;
    }
    return undefined;
  };
}

function compile(options: MogrifierOptions): Mogrifier {
  const variable = (suffix: string): string => `AGENTSTATS_MOGRIFIER_${options.name}_${suffix}`;
  if (options.pattern === "")
    throw new SinkConfigError(
      `${variable("PATTERN")} is missing: set it to a regular expression for the names to change`,
    );
  if (options.emit === "")
    throw new SinkConfigError(
      `${variable("NAME")} is missing: set it to the name to emit, such as "requests.$1"`,
    );
  const expression = compilePattern(options.pattern, variable("PATTERN"));
  const tags = Object.entries(options.tags);
  for (const [key, value] of tags) {
    if (key === "") throw new SinkConfigError(`${variable("TAGS")} has a tag without a key: use key:value`);
    if (value === "")
      throw new SinkConfigError(`${variable("TAGS")} has no value for the tag ${key}: use key:value`);
  }
  return (name) => {
    const matcher = expression.matcher(name);
    if (!matcher.find()) return undefined;
    const groups: (string | null)[] = [];
    for (let i = 0; i <= matcher.groupCount(); i++) groups.push(matcher.group(i));
    return {
      name: fill(options.emit, groups),
      tags: tags.map(([key, value]) => ({ key, value: fill(value, groups) })),
    };
  };
}

function compilePattern(pattern: string, variable: string): RE2JS {
  const { RE2JS, RE2JSException } = loadRe2();
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new SinkConfigError(`${variable} is not a valid RE2 regular expression: ${error.message}`);
  }
}

/** Fills the references of a template. References to groups that the pattern does not have stay unchanged. */
function fill(template: string, groups: readonly (string | null)[]): string {
  return template.replace(/\$(\d+)/g, (written, digits: string) => {
    const group = groups[Number(digits)];
    return group === undefined ? written : (group ?? "");
  });
}
