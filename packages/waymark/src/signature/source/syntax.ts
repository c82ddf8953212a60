import type { TSArrayType, TSType } from "oxc-parser";
import type { TypeNode } from "../model/signature.ts";
import { ANY, intersectionOf, literal, literalNames, NEVER, OBJECT, UNKNOWN, unionOf } from "./combine.ts";
import { constantType } from "./constants.ts";
import { documentedType } from "./documented-type.ts";
import { mappedShape, membersShape } from "./members.ts";
import { referenceShape, referenceType } from "./named-types.ts";
import { namePath } from "./names.ts";
import { commonShape, indexedType, keysOf } from "./operators.ts";
import type { Scope } from "./scope.ts";
import * as shapes from "./shapes.ts";
import { templateType, tupleType } from "./tuples.ts";
import type { TypeReader } from "./type-reader.ts";
import { primitiveValue } from "./values.ts";

const INTERSECTION = "Waymark cannot combine its parts";

/** The type of a type's syntax. */
export function readNode(reader: TypeReader, node: TSType, scope: Scope): TypeNode {
  switch (node.type) {
    case "TSStringKeyword":
      return { kind: "string" };
    case "TSNumberKeyword":
      return { kind: "number" };
    case "TSBigIntKeyword":
      return { kind: "bigint" };
    case "TSBooleanKeyword":
      return { kind: "boolean" };
    case "TSNullKeyword":
      return { kind: "null" };
    case "TSUndefinedKeyword":
    case "TSVoidKeyword":
      return { kind: "undefined" };
    case "TSUnknownKeyword":
      return UNKNOWN;
    case "TSAnyKeyword":
      return ANY;
    case "TSNeverKeyword":
      return NEVER;
    case "TSObjectKeyword":
      return OBJECT;
    case "TSLiteralType": {
      const value = primitiveValue(node.literal);
      return value === undefined || value === null
        ? reader.fail(node, scope, "it is not a literal")
        : literal(value);
    }
    case "TSTemplateLiteralType":
      return templateType(reader, node, scope);
    case "TSUnionType":
      return unionOf(node.types.map((member) => documentedType(reader, member, scope)));
    case "TSArrayType":
      return { kind: "array", items: itemType(reader, node, scope) };
    case "TSTupleType":
      return tupleType(reader, node.elementTypes, scope);
    case "TSParenthesizedType":
      return documentedType(reader, node.typeAnnotation, scope);
    case "TSTypeOperator":
      if (node.operator === "readonly") return reader.read(node.typeAnnotation, scope);
      return node.operator === "keyof"
        ? keysOf(reader, node.typeAnnotation, scope)
        : reader.fail(node, scope);
    case "TSIntersectionType": {
      const shape = reader.shape(node, scope);
      return shape
        ? shapes.readShape(shape)
        : (intersectionOf(node.types.map((part) => reader.read(part, scope))) ??
            reader.fail(node, scope, INTERSECTION));
    }
    case "TSTypeLiteral":
    case "TSMappedType":
      return shapes.readShape(reader.shape(node, scope)!);
    case "TSIndexedAccessType":
      return indexedType(reader, node.objectType, node.indexType, scope);
    case "TSTypeQuery":
      if (node.exprName.type === "TSImportType") return reader.fail(node, scope);
      return (
        constantType(reader, namePath(node.exprName), scope) ??
        reader.fail(node, scope, "its value is not a literal")
      );
    case "TSImportType":
    case "TSTypeReference":
      return referenceType(reader, node, scope);
    default:
      return reader.fail(node, scope);
  }
}

/** The parser drops parentheses. A comment before the whole list is not one of its items. */
function itemType(reader: TypeReader, node: TSArrayType, scope: Scope): TypeNode {
  const { elementType } = node;
  return elementType.start === node.start
    ? reader.read(elementType, scope)
    : documentedType(reader, elementType, scope);
}

/** The shape of a type's syntax, if it is an object type. */
export function shapeNode(reader: TypeReader, node: TSType, scope: Scope): shapes.Shape | undefined {
  switch (node.type) {
    case "TSTypeLiteral":
      return membersShape(reader, node.members, scope);
    case "TSMappedType":
      return mappedShape(reader, node, scope);
    case "TSParenthesizedType":
      return reader.shape(node.typeAnnotation, scope);
    case "TSTypeOperator":
      return node.operator === "readonly" ? reader.shape(node.typeAnnotation, scope) : undefined;
    case "TSIntersectionType": {
      const parts = node.types.map((part) => reader.shape(part, scope));
      return parts.every((part) => part !== undefined)
        ? shapes.intersect(parts, () => reader.fail(node, scope, INTERSECTION))
        : undefined;
    }
    case "TSTypeQuery":
      return shapes.shapeOfType(reader.read(node, scope));
    case "TSIndexedAccessType": {
      const names = literalNames(reader.read(node.indexType, scope));
      return names?.length === 1
        ? commonShape(reader, node.objectType, scope)?.properties.get(names[0]!)?.shape()
        : undefined;
    }
    case "TSImportType":
    case "TSTypeReference":
      return referenceShape(reader, node, scope);
    default:
      return undefined;
  }
}
