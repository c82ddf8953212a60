import type { CompileContext } from "./compile-context.ts";
import { type Converter, reject } from "./converter.ts";

/** Largest depth of a value of a recursive type. A greater depth would exhaust the stack. */
const MAXIMUM_DEPTH = 200;

/** A recursive type: its converter does not exist yet when the parts of the type are compiled. */
export function referenceConverter(
  name: string,
  context: CompileContext,
  compiled: Map<string, Converter>,
): Converter {
  const known = compiled.get(name);
  if (known) return known;
  let target: Converter | undefined;
  let depth = 0;
  const reference: Converter = {
    expected: `a ${name}`,
    rank: "object",
    // Unknown while the type that contains itself is compiled.
    keepsJson: false,
    fromText: (text, notes) => target!.fromText(text, notes),
    fromFile: (file, notes) => target!.fromFile(file, notes),
    fromItem: (value, notes) => target!.fromItem(value, notes),
    fromList: (values, notes) => target!.fromList(values, notes),
    fromJson: context.outcomes.remembering((value, notes) => {
      if (depth === MAXIMUM_DEPTH)
        return reject(notes, `is nested more than ${MAXIMUM_DEPTH} levels deep`, true);
      depth++;
      try {
        return target!.fromJson(value, notes);
      } finally {
        // An exception must not leave its depth to the next request.
        depth--;
      }
    }),
  };
  compiled.set(name, reference);
  const type = context.definitions[name];
  if (!type) throw new TypeError(`the signature defines no type named ${name}`);
  target = context.compile(type);
  return reference;
}
