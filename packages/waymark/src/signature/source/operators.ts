import type { TSType } from "oxc-parser";
import type { ArrayNode, TupleItem, TupleNode, TypeNode } from "../model/signature.ts";
import { literal, literalNames, unionOf } from "./combine.ts";
import { constraintOf, findDeclaration, instantiate } from "./names.ts";
import type { Scope } from "./scope.ts";
import * as shapes from "./shapes.ts";
import type { TypeReader } from "./type-reader.ts";

/** `keyof T` */
export function keysOf(reader: TypeReader, node: TSType, scope: Scope): TypeNode {
  const shape = commonShape(reader, node, scope);
  if (!shape) return reader.fail(node, scope, "only the keys of an object type can be listed");
  const names = [...shape.properties.keys()];
  // The name of `{ 1: T }` is a number.
  if (shape.index || names.some((name) => String(Number(name)) === name)) return reader.fail(node, scope);
  return unionOf(names.map((name) => literal(name)));
}

/** `T[K]` */
export function indexedType(
  reader: TypeReader,
  objectNode: TSType,
  indexNode: TSType,
  scope: Scope,
): TypeNode {
  const index = reader.read(indexNode, scope);
  if (index.kind === "never") return reader.fail(indexNode, scope, "it is not the name of a property");
  const shape = commonShape(reader, objectNode, scope);
  if (!shape) {
    const list = reader.read(objectNode, scope);
    if (list.kind !== "array" && list.kind !== "tuple")
      return reader.fail(objectNode, scope, "it has no such part");
    if (index.kind === "number") return itemsOf(list);
    if (index.kind !== "literal" || typeof index.value !== "number")
      return reader.fail(indexNode, scope, "it is not the position of an item");
    if (list.kind === "array") return list.items;
    const item = list.items[index.value];
    return item ? optionalType(item) : reader.fail(indexNode, scope, "the tuple has no such item");
  }
  const names = literalNames(index);
  if (!names && shape.index && index.kind === "string") return shape.index.read();
  if (!names) return reader.fail(indexNode, scope, "it is not the name of a property");
  return unionOf(
    names.map((name) => {
      // TypeScript finds the members of Object before those of an index signature.
      const property = shape.properties.get(name) ?? (name in Object.prototype ? undefined : shape.index);
      if (!property) return reader.fail(indexNode, scope, `there is no property "${name}"`);
      const optional = shape.properties.get(name)?.optional ?? false;
      return optionalType({ type: property.read(), optional });
    }),
  );
}

function itemsOf(list: ArrayNode | TupleNode): TypeNode {
  if (list.kind === "array") return list.items;
  return unionOf([...list.items.map(optionalType), ...(list.rest ? [list.rest] : [])]);
}

const optionalType = ({ type, optional }: TupleItem): TypeNode =>
  optional ? unionOf([type, { kind: "undefined" }]) : type;

/** The shape of an object type, or the common shape of a union's members. */
export function commonShape(reader: TypeReader, node: TSType, scope: Scope): shapes.Shape | undefined {
  const own = reader.shape(node, scope);
  if (own) return own;
  const union = unionMembers(reader, node, scope);
  const members = union?.map(({ node: member, scope: within }) => commonShape(reader, member, within));
  // An index signature has every name.
  const isClosed = (shape: shapes.Shape | undefined) => shape !== undefined && !shape.index;
  return members?.every(isClosed) ? shapes.common(members as shapes.Shape[]) : undefined;
}

/** The members of a union, also through type aliases. */
function unionMembers(
  reader: TypeReader,
  node: TSType,
  scope: Scope,
): { node: TSType; scope: Scope }[] | undefined {
  if (node.type === "TSUnionType") return node.types.map((member) => ({ node: member, scope }));
  if (node.type !== "TSTypeReference" && node.type !== "TSImportType") return undefined;
  const found = findDeclaration(reader, node, scope);
  if (found?.kind === "bound") return unionMembers(reader, found.node, found.scope);
  if (found?.kind === "parameter") {
    const constraint = constraintOf(reader, found, node, scope);
    return constraint && unionMembers(reader, constraint, found.scope);
  }
  if (found?.kind !== "alias") return undefined;
  const inner = instantiate(reader, found.node.typeParameters, found.scope, node, scope);
  return unionMembers(reader, found.node.typeAnnotation, inner);
}
