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
    const isPrimitive = init !== null && primitiveValue(init) !== undefined;
    const type = written
      ? reader.read(written, outer)
      : init && valueType(init, isPrimitive, valueContext(reader, outer));
    return path
      .slice(own)
      .reduce<TypeNode | undefined>(
        (target, name) =>
          target?.kind === "object"
            ? target.properties.find((property) => property.name === name)?.type
            : undefined,
        type ?? undefined,
      );
  }
  return undefined;
}

/** The constants and types that are visible in a scope. */
export function valueContext(reader: TypeReader, scope: Scope): ValueContext {
  return {
    constant: (path) => constantType(reader, path, scope),
    annotation: (node) => reader.read(node, scope),
  };
}
