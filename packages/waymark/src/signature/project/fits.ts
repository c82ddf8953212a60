import type { Definitions, ObjectNode, TypeNode } from "../model/signature.ts";

/** Whether a value could have a type, as far as its properties show. Undeclared properties do not matter. */
export function fits(type: TypeNode, value: unknown, definitions: Definitions): boolean {
  const inner = (part: TypeNode, of: unknown) => fits(part, of, definitions);
  switch (type.kind) {
    case "string":
    case "number":
    case "bigint":
    case "boolean":
      return typeof value === type.kind;
    case "null":
      return value === null;
    case "undefined":
      return value === undefined;
    case "literal":
      return value === (typeof type.value === "object" ? BigInt(type.value.bigint) : type.value);
    case "date":
      return value instanceof Date;
    case "url":
      return value instanceof URL;
    case "union":
      return type.members.some((member) => inner(member, value));
    case "array":
      return Array.isArray(value) && value.every((item) => inner(type.items, item));
    case "tuple":
      return (
        Array.isArray(value) &&
        type.items.every(
          ({ type: item, optional }, at) => (optional && value[at] === undefined) || inner(item, value[at]),
        )
      );
    case "object":
      return fitsObject(type, value, inner);
    case "reference":
      return inner(definitions[type.name]!, value);
    default:
      return true;
  }
}

function fitsObject(
  { properties }: ObjectNode,
  value: unknown,
  inner: (type: TypeNode, value: unknown) => boolean,
): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return properties.every(({ name, type, optional }) => {
    const own = (value as Record<string, unknown>)[name];
    return own === undefined && !Object.hasOwn(value, name)
      ? optional
      : (optional && own === undefined) || inner(type, own);
  });
}
