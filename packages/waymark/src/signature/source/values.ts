import type { Expression, ObjectExpression } from "oxc-parser";
import type { JsonLiteral, PropertyNode, TypeNode } from "../model/signature.ts";
import { literal, NON_NULL, unionOf, widen } from "./combine.ts";

/** The part of the type reader that {@link valueType} uses. */
export interface ValueContext {
  /** The type of a constant by its name. Undefined if it is unknown. */
  constant(path: readonly string[]): TypeNode | undefined;
  /** Whether a constant is a plain literal (`const A = 1`), whose type a variable does not keep. */
  isWidened(path: readonly string[]): boolean;
  /** The type in `x as T`. */
  annotation(node: Extract<Expression, { type: "TSAsExpression" }>["typeAnnotation"]): TypeNode;
}

/**
 * The type of a value from its text alone: literals, lists, objects, `as const`, `satisfies`, other constants.
 * Undefined for an expression that would have to run.
 */
export function valueType(node: Expression, constant: boolean, context: ValueContext): TypeNode | undefined {
  switch (node.type) {
    case "Literal":
    case "TemplateLiteral":
    case "UnaryExpression": {
      const value = primitiveValue(node);
      if (value === null) return { kind: "null" };
      if (value === undefined) return undefined;
      return constant ? literal(value) : widen(literal(value));
    }
    case "ArrayExpression":
      return arrayType(node.elements, constant, context);
    case "ObjectExpression":
      return objectType(node, constant, context);
    case "TSAsExpression":
      return isConst(node.typeAnnotation)
        ? valueType(node.expression, true, context)
        : context.annotation(node.typeAnnotation);
    case "TSSatisfiesExpression":
      // Without `as const`, the type after `satisfies` decides which literals remain.
      return isConstAssertion(node.expression) ? valueType(node.expression, constant, context) : undefined;
    case "ParenthesizedExpression":
      return valueType(node.expression, constant, context);
    case "Identifier":
    case "MemberExpression": {
      const path = memberPath(node);
      const type = path && context.constant(path);
      return type && !constant && context.isWidened(path) ? widen(type) : type;
    }
    case "NewExpression":
      if (node.callee.type !== "Identifier") return undefined;
      if (node.callee.name === "Date") return { kind: "date" };
      return node.callee.name === "URL" ? { kind: "url" } : undefined;
    default:
      return undefined;
  }
}

const isConstAssertion = (node: Expression): boolean =>
  node.type === "TSAsExpression" && isConst(node.typeAnnotation);

function isConst(type: { readonly type: string }): boolean {
  const reference = type as { type: string; typeName?: { type: string; name?: string } };
  return reference.type === "TSTypeReference" && reference.typeName?.name === "const";
}

/** A literal string, number, boolean, bigint or null. Undefined for any other expression. */
export function primitiveValue(node: Expression): string | number | boolean | bigint | null | undefined {
  if (node.type === "Literal") {
    if ("bigint" in node) return BigInt(node.bigint);
    return "regex" in node ? undefined : (node.value as string | number | boolean | null);
  }
  if (node.type === "TemplateLiteral") {
    return node.expressions.length === 0 ? (node.quasis[0]!.value.cooked ?? undefined) : undefined;
  }
  if (node.type === "UnaryExpression" && (node.operator === "-" || node.operator === "+")) {
    const value = primitiveValue(node.argument);
    if (typeof value === "bigint") return node.operator === "-" ? -value : undefined;
    if (typeof value === "number") return node.operator === "-" ? -value : value;
  }
  return undefined;
}

function memberPath(node: Expression): string[] | undefined {
  if (node.type === "Identifier") return [node.name];
  if (node.type !== "MemberExpression" || node.computed) return undefined;
  const object = memberPath(node.object as Expression);
  return object && node.property.type === "Identifier" ? [...object, node.property.name] : undefined;
}

function arrayType(
  elements: Extract<Expression, { type: "ArrayExpression" }>["elements"],
  constant: boolean,
  context: ValueContext,
): TypeNode | undefined {
  const types: TypeNode[] = [];
  for (const element of elements) {
    if (!element) return undefined;
    const type = valueType(element.type === "SpreadElement" ? element.argument : element, constant, context);
    if (!type) return undefined;
    if (element.type !== "SpreadElement") types.push(type);
    else if (type.kind === "tuple") types.push(...type.items.map((item) => item.type));
    else if (type.kind === "array" && !constant) types.push(type.items);
    else return undefined;
  }
  if (constant) return { kind: "tuple", items: types.map((type) => ({ type, optional: false })) };
  // TypeScript gives each object the names of the others.
  if (new Set(types.filter(({ kind }) => kind === "object").map((type) => JSON.stringify(type))).size > 1)
    return undefined;
  return { kind: "array", items: types.length > 0 ? unionOf(types) : { kind: "untyped" } };
}

function objectType(node: ObjectExpression, constant: boolean, context: ValueContext): TypeNode | undefined {
  const properties: PropertyNode[] = [];
  for (const property of node.properties) {
    if (property.type !== "Property") return undefined;
    const name = propertyName(property);
    const type = name === undefined ? undefined : valueType(property.value as Expression, constant, context);
    if (name === undefined || !type) return undefined;
    properties.push({ name, type, optional: false });
  }
  return properties.length === 0 ? NON_NULL : { kind: "object", properties };
}

/** A property's name, if it is a literal. */
export function propertyName(property: {
  readonly key: unknown;
  readonly computed: boolean;
}): string | undefined {
  const key = property.key as Expression | { type: "PrivateIdentifier" };
  if (key.type === "Identifier" && !property.computed) return key.name;
  const value = key.type === "PrivateIdentifier" ? undefined : primitiveValue(key);
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

/** A default that JSON can represent, for documents. */
export function jsonLiteral(node: Expression): JsonLiteral | undefined {
  if (node.type === "ArrayExpression") {
    const items = node.elements.map((item) =>
      item && item.type !== "SpreadElement" ? jsonLiteral(item) : undefined,
    );
    return items.every((item) => item !== undefined) ? items : undefined;
  }
  if (node.type === "ObjectExpression") {
    const entries = node.properties.map((property) => {
      const name = property.type === "Property" ? propertyName(property) : undefined;
      const value = name === undefined ? undefined : jsonLiteral((property as { value: Expression }).value);
      return name === undefined || value === undefined ? undefined : ([name, value] as const);
    });
    return entries.every((entry) => entry !== undefined) ? Object.fromEntries(entries) : undefined;
  }
  if (node.type === "TSAsExpression" || node.type === "TSSatisfiesExpression")
    return jsonLiteral(node.expression);
  const value = primitiveValue(node);
  return typeof value === "bigint" ? undefined : value;
}
