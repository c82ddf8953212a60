import type { Refinements } from "../model/signature.ts";

/** The tags that refine a type. */
export const REFINEMENT_TAGS: ReadonlySet<string> = new Set<keyof Refinements | "type">([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "integer",
  "minLength",
  "maxLength",
  "pattern",
  "format",
  "minItems",
  "maxItems",
  "uniqueItems",
  "type",
]);

/** Tags of JSDoc, TSDoc and TypeScript, which document. */
const KNOWN_TAGS = new Set(
  (
    "abstract access alias alpha arg argument async augments author beta borrows callback category class classdesc " +
    "const constant constructor constructs copyright decorator default defaultValue defaultvalue deprecated desc " +
    "description enum event eventProperty example exception experimental export extends external file fileoverview " +
    "fires func function generator global group hidden hideconstructor host ignore implements import inherit " +
    "inheritDoc inheritdoc inner instance interface internal jsx kind label lends license link linkcode linkplain " +
    "listens member memberof method mixes mixin module name namespace nocollapse noinheritdoc override overload " +
    "overview package packageDocumentation param postconditions private privateRemarks prop property protected " +
    "public readonly remarks requires return returns satisfies sealed see since static summary suppress " +
    "template this throws todo ts tutorial type typedef typeParam undocumented var variation version virtual yield " +
    "yields"
  ).split(" "),
);

/** Keywords of JSON Schema and OpenAPI that no tag supports. */
const UNSUPPORTED = new Set(
  (
    "additionalProperties allOf anyOf contains contentEncoding contentMediaType contentSchema dependentRequired " +
    "dependentSchemas discriminator else examples if items maxContains maxProperties minContains minProperties not " +
    "nullable oneOf patternProperties prefixItems propertyNames readOnly required then title unevaluatedItems " +
    "unevaluatedProperties writeOnly xml"
  ).split(" "),
);

/** Returns the reason why a tag would silently have no effect. Undefined for a known or unrelated tag. */
export function tagProblem(name: string): string | undefined {
  if (REFINEMENT_TAGS.has(name) || KNOWN_TAGS.has(name)) return undefined;
  if (UNSUPPORTED.has(name))
    return `@${name} is a keyword of JSON Schema that Waymark does not check. Remove it, or use a schema (\`static schema\`)`;
  const near = [...REFINEMENT_TAGS].find(
    // Two of four letters would be another word: `@tip`, `@time`.
    (known) => distance(name.toLowerCase(), known.toLowerCase()) <= (known.length > 4 ? 2 : 1),
  );
  return near && `@${name} is unknown. Did you mean @${near}?`;
}

/** The number of characters to insert, remove or replace. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let at = 1; at <= one.length; at++) {
    const next = [at];
    for (let to = 1; to <= other.length; to++) {
      const replace = row[to - 1]! + (one[at - 1] === other[to - 1] ? 0 : 1);
      next.push(Math.min(row[to]! + 1, next[to - 1]! + 1, replace));
    }
    row = next;
  }
  return row[other.length]!;
}
