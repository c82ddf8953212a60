import type { MethodSignature } from "../signature/model.ts";

const EMPTY = /^(?:async\s*)?\*?\s*[A-Z][A-Z0-9_-]*\s*\(\s*\)\s*\{/;
const VARIADIC =
  /^(?:async\s*)?\*?\s*[A-Z][A-Z0-9_-]*\s*\(\s*\{\s*\.\.\.\s*([A-Za-z_$][\w$]*)\s*\}\s*\)\s*\{/;

/**
 * The signature of a method that takes nothing, or `{ ...keywords }` and no type, from its text at run time.
 * For controllers that are handed over as they are: when all are this plain, the parser is never loaded.
 */
export function plainSignature(verb: string, method: () => unknown): MethodSignature | undefined {
  const text = Function.prototype.toString.call(method);
  const location = { file: "", line: 0, column: 0 };
  if (EMPTY.test(text)) return { verb, parameters: [], location, definitions: {} };
  const variadic = VARIADIC.exec(text);
  if (variadic === null) return undefined;
  const type = { kind: "object", properties: [], index: { kind: "untyped" } } as const;
  const parameters = [{ role: "keywords", name: variadic[1]!, type, optional: false, location }] as const;
  return { verb, parameters, location, definitions: {} };
}
