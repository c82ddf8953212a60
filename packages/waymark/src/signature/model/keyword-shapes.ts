import type { Definitions, ObjectNode, TypeNode } from "./signature.ts";

/** The object behind a type, through references. */
export function asObject(type: TypeNode, definitions: Definitions): ObjectNode | undefined {
  let target: TypeNode | undefined = type;
  for (let hops = 0; target?.kind === "reference" && hops < 100; hops++) target = definitions[target.name];
  return target?.kind === "object" ? target : undefined;
}

/** The object types behind a keyword parameter's type: one, or the members of a union. */
export function keywordShapes(type: TypeNode, definitions: Definitions): ObjectNode[] {
  const object = asObject(type, definitions);
  if (object) return [object];
  const target = type.kind === "reference" ? definitions[type.name] : type;
  if (target?.kind !== "union") return [];
  return target.members.flatMap((member) => keywordShapes(member, definitions));
}

/** The names of all shapes, each once. */
export function keywordNames(shapes: readonly ObjectNode[]): string[] {
  return [...new Set(shapes.flatMap((shape) => shape.properties.map((property) => property.name)))];
}

/** Whether a type has only objects and lists as values, which a path does not carry. */
export function isData(type: TypeNode, definitions: Definitions): boolean {
  return isList(type, definitions) || keywordShapes(withoutNull(type), definitions).length > 0;
}

/** Whether a type has only lists as values. */
export function isList(type: TypeNode, definitions: Definitions): boolean {
  if (type.kind === "reference") {
    const target = definitions[type.name];
    return target !== undefined && isList(target, definitions);
  }
  const own = withoutNull(type);
  if (own.kind === "union") return own.members.every((member) => isList(member, definitions));
  return own.kind === "array" || own.kind === "tuple";
}

function withoutNull(type: TypeNode): TypeNode {
  if (type.kind !== "union") return type;
  return { ...type, members: type.members.filter(({ kind }) => kind !== "null") };
}
