import type { Expression, TSType } from "oxc-parser";
import type { TypeNode } from "../model/signature.ts";
import type { Scope } from "./scope.ts";
import type { TypeReader } from "./type-reader.ts";
import { primitiveValue, type ValueContext, valueType } from "./values.ts";

/** The type of a constant, also of `a.b`. Undefined if its value is not a literal. */
export function constantType(
  reader: TypeReader,
  path: readonly string[],
  scope: Scope,
): TypeNode | undefined {
  for (let own = path.length; own > 0; own--) {
    const found = reader.modules.findValue(path.slice(0, own), scope);
    if (found?.kind !== "declaration") continue;
    const { declaration } = found;
    if (declaration.kind !== "const") return undefined;
    const { init, type: written, scope: outer } = declaration;
    const type = written ? writtenType(reader, written, outer, init) : initialType(reader, init, outer);
    return path.slice(own).reduce<TypeNode | undefined>((target, name) => {
      const property =
        target?.kind === "object" ? target.properties.find((one) => one.name === name) : undefined;
      return property?.optional ? undefined : property?.type;
    }, type);
  }
  return undefined;
}

/** The declared type. TypeScript narrows a union to the members that fit the initial value. */
function writtenType(
  reader: TypeReader,
  written: TSType,
  scope: Scope,
  init: Expression | null,
): TypeNode | undefined {
  const type = reader.read(written, scope);
  const isNarrowed = init !== null && ["union", "unknown", "nonNull", "reference"].includes(type.kind);
  return isNarrowed ? undefined : type;
}

function initialType(reader: TypeReader, init: Expression | null, scope: Scope): TypeNode | undefined {
  // The declaration of the other constant decides whether its literal remains.
  if (!init || init.type === "Identifier" || init.type === "MemberExpression") return undefined;
  // TypeScript's type of an empty list has no values.
  if (init.type === "ArrayExpression" && init.elements.length === 0) return undefined;
  return valueType(init, primitiveValue(init) !== undefined, valueContext(reader, scope));
}

function isPlainLiteral(reader: TypeReader, path: readonly string[], scope: Scope): boolean {
  const found = path.length === 1 ? reader.modules.findValue(path, scope) : undefined;
  if (found?.kind !== "declaration" || found.declaration.kind !== "const") return false;
  const { init, type } = found.declaration;
  return type === null && init !== null && primitiveValue(init) !== undefined;
}

/** The constants and types that are visible in a scope. */
export function valueContext(reader: TypeReader, scope: Scope): ValueContext {
  return {
    constant: (path) => constantType(reader, path, scope),
    isWidened: (path) => isPlainLiteral(reader, path, scope),
    annotation: (node) => reader.read(node, scope),
  };
}
