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
