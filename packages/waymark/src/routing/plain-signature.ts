import type { MethodSignature } from "../signature/model/signature.ts";

const EMPTY = /^(?:async\s*)?\*?\s*[A-Z][A-Z0-9_-]*\s*\(\s*\)\s*\{/;
/** `}` and `)` must be adjacent: Node replaces erased types with spaces, and a typed method needs the source reader. */
const VARIADIC = /^(?:async\s*)?\*?\s*[A-Z][A-Z0-9_-]*\s*\(\s*\{\s*\.\.\.\s*([A-Za-z_$][\w$]*)\s*\}\)\s*\{/;

/**
 * The signature of a method without parameters, or with only an untyped `{ ...keywords }`, from its text at run time.
 * Only for controllers that are passed as classes. If all methods are this plain, the parser is not loaded.
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
