import type { TSMappedType, TSSignature, TSType } from "oxc-parser";
import { literalNames, UNKNOWN } from "./combine.ts";
import { documentationOf } from "./documentation.ts";
import { readDocComment } from "./jsdoc.ts";
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
      const key = member.parameters[0]?.typeAnnotation.typeAnnotation;
      if (index || key?.type !== "TSStringKeyword")
        return reader.fail(member, scope, "its names are not strings");
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
      documentation: documentationOf([doc]),
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
  const isKeyof = node.constraint.type === "TSTypeOperator" && node.constraint.operator === "keyof";
  // `[K in keyof T]` keeps the optional properties of T optional.
  const origin =
    node.constraint.type === "TSTypeOperator" && isKeyof
      ? reader.shape(node.constraint.typeAnnotation, scope)
      : undefined;
  const copies = copiesProperty(node, scope);
  // Over a union, or over the names of a type parameter, TypeScript does more than this.
  if ((isKeyof && !origin) || (!isKeyof && !copies && isBound(node.constraint, scope)))
    return reader.fail(node, scope);
  if (node.optional === "-" && !copies) return reader.fail(node, scope);
  const within = (name: string): Scope => {
    const inner = new Scope(scope.module, scope, `${scope.instance}[${name}]`);
    inner.types.set(node.key.name, { kind: "key", name });
    return inner;
  };
  if (!names) {
    if (keys.kind !== "string" || keys.refinements || node.optional === "-")
      return reader.fail(node.constraint, scope, "its names are not literals");
    return { properties: new Map(), index: readLater(reader, value, scope) };
  }
  return {
    properties: new Map(
      names.map((name) => {
        const known = origin?.properties.get(name);
        if (known && node.optional === "-")
          return [name, shapes.requiredProperty(known, () => reader.fail(node, scope))];
        const optional = node.optional ? true : (known?.optional ?? false);
        const { read, shape } = known && copies ? known : readLater(reader, value, within(name));
        return [name, { optional, documentation: known?.documentation ?? {}, shape, read }];
      }),
    ),
  };
}

/** Whether the value of a mapped type is the property itself: `[K in keyof T]: T[K]`. */
function copiesProperty({ constraint, key, typeAnnotation: value }: TSMappedType, scope: Scope): boolean {
  if (value?.type !== "TSIndexedAccessType" || value.indexType.type !== "TSTypeReference") return false;
  const { typeName } = value.indexType;
  if (typeName.type !== "Identifier" || typeName.name !== key.name) return false;
  if (constraint.type !== "TSTypeOperator") return true;
  const { source } = scope.module;
  return source.slice(value.objectType) === source.slice(constraint.typeAnnotation);
}

const isBound = (node: TSType, scope: Scope): boolean =>
  node.type === "TSTypeReference" &&
  node.typeName.type === "Identifier" &&
  scope.findType(node.typeName.name)?.kind === "bound";
