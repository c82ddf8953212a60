import type { TSMappedType, TSSignature, TSType } from "oxc-parser";
import { literalNames, UNKNOWN } from "./combine.ts";
import { readDocComment } from "./jsdoc.ts";
import { commonShape } from "./operators.ts";
import { Scope } from "./scope.ts";
import * as shapes from "./shapes.ts";
import type { TypeReader } from "./type-reader.ts";
import { propertyName } from "./values.ts";

/** A part of a shape that is read on demand. */
export function readLater(
  reader: TypeReader,
  node: TSType,
  scope: Scope,
): Pick<shapes.ShapeProperty, "read" | "shape"> {
  return {
    read: () => reader.read(node, scope),
    shape: () => reader.shape(node, scope),
  };
}

/** The shape of the members of a type literal or an interface. */
export function membersShape(
  reader: TypeReader,
  members: readonly TSSignature[],
  scope: Scope,
): shapes.Shape {
  const properties = new Map<string, shapes.ShapeProperty>();
  let index: shapes.Shape["index"];
  for (const member of members) {
    if (member.type === "TSIndexSignature") {
      index = readLater(reader, member.typeAnnotation.typeAnnotation, scope);
      continue;
    }
    if (member.type !== "TSPropertySignature") {
      return reader.fail(member, scope, "a request cannot carry a function");
    }
    const name = propertyName(member);
    if (name === undefined) return reader.fail(member, scope, "its name is not a literal");
    const doc = readDocComment(scope.module, member.start);
    const own = member.typeAnnotation?.typeAnnotation;
    const lazy = own ? readLater(reader, own, scope) : { read: () => UNKNOWN, shape: () => undefined };
    properties.set(name, {
      optional: member.optional,
      description: doc.description,
      ...lazy,
      read: () => reader.refine(lazy.read(), doc.refinements, scope.module),
    });
  }
  return { properties, ...(index && { index }) };
}

/** `{ [K in Keys]: T }`: one property for each name, or an index signature for an open set of names. */
export function mappedShape(reader: TypeReader, node: TSMappedType, scope: Scope): shapes.Shape {
  const value = node.typeAnnotation;
  if (!value || node.nameType) return reader.fail(node, scope);
  const keys = reader.read(node.constraint, scope);
  const names = literalNames(keys);
  // `[K in keyof T]` keeps the optional properties of T optional
  const origin =
    node.constraint.type === "TSTypeOperator" && node.constraint.operator === "keyof"
      ? commonShape(reader, node.constraint.typeAnnotation, scope)
      : undefined;
  const within = (name: string): Scope => {
    const inner = new Scope(scope.module, scope, `${scope.instance}[${name}]`);
    inner.types.set(node.key.name, { kind: "key", name });
    return inner;
  };
  if (!names) {
    if (keys.kind !== "string" && keys.kind !== "number")
      return reader.fail(node.constraint, scope, "its names are not literals");
    return { properties: new Map(), index: readLater(reader, value, scope) };
  }
  return {
    properties: new Map(
      names.map((name) => {
        const known = origin?.properties.get(name);
        const optional = node.optional === "-" ? false : node.optional ? true : (known?.optional ?? false);
        const lazy = readLater(reader, value, within(name));
        const read = node.optional === "-" ? () => shapes.withoutUndefined(lazy.read()) : lazy.read;
        return [name, { optional, description: known?.description ?? "", shape: lazy.shape, read }];
      }),
    ),
  };
}
