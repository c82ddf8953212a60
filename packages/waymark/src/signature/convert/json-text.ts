import { countKeys, locateDuplicate, repeatsMember } from "../../http/json-members.ts";
import type { CompileContext } from "./compile-context.ts";
import { type Note, reject, shortened } from "./converter.ts";

/** The depth limit of a JSON body. */
const MAXIMUM_DEPTH = 1_000;

/**
 * Converts the JSON text of a nested value in a query, a form field or a path segment: `?filter={"min":1}`. The rules
 * of a JSON body apply: bounded depth, no duplicate members, no key that could reach a prototype.
 */
export function convertJsonText(
  text: string,
  expected: string,
  notes: Note[],
  { numbers }: CompileContext,
  convert: (value: unknown) => unknown,
): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return reject(notes, `must be ${expected}, written as JSON`);
  }
  const keys = countKeys(value, MAXIMUM_DEPTH);
  if (keys === undefined || !isSound(value)) return reject(notes, `must be ${expected}, written as JSON`);
  const duplicate = repeatsMember(text, keys) ? locateDuplicate(text) : undefined;
  if (duplicate !== undefined) {
    const { name, parent, line, column } = duplicate;
    const owner = parent === "" ? "" : ` in ${parent}`;
    const place = `at line ${line}, column ${column} of the JSON text`;
    return reject(notes, `has the member ${JSON.stringify(shortened(name))} twice${owner}, ${place}`, true);
  }
  const outer = numbers.source;
  numbers.source = text;
  try {
    return convert(value);
  } finally {
    numbers.source = outer;
  }
}

function isSound(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return !Object.hasOwn(value, "__proto__") && Object.values(value).every(isSound);
}
