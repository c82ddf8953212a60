import type { BindingPattern, Expression, ObjectPattern, ParamPattern, TSType } from "oxc-parser";
import { SignatureError } from "../errors.ts";
import { keywordShapes } from "../keywords.ts";
import {
  type JsonLiteral,
  type ObjectNode,
  PATTERN_NAME,
  type Parameter,
  type PropertyNode,
  type TypeNode,
} from "../model.ts";
import { splitUndefined } from "./combine.ts";
import { type DocComment, type ParameterTag, type RefinementTag, readDocComment } from "./jsdoc.ts";
import type { Scope } from "./scope.ts";
import { readShape } from "./shapes.ts";
import type { TypeReader } from "./types.ts";
import { jsonLiteral, propertyName } from "./values.ts";

export interface ParameterContext {
  readonly types: TypeReader;
  readonly scope: Scope;
  /** The method's own JSDoc, for its `@param` tags. */
  readonly doc: DocComment;
  /** What becomes of a type that cannot be read: answers what stands in for it, or throws on. */
  readonly onUnreadable: (error: SignatureError, names: readonly string[], text: string) => TypeNode;
}

/** A parameter taken apart: the pattern, its type as written, its default. */
interface Formal {
  readonly pattern: BindingPattern;
  readonly annotation: TSType | undefined;
  readonly default: Expression | undefined;
  readonly optional: boolean;
  readonly start: number;
  readonly isRest: boolean;
}

/**
 * Reads a method's parameters.
 *
 * @throws SignatureError at what cannot be read
 */
export const readParameters = (nodes: readonly ParamPattern[], context: ParameterContext): Parameter[] => {
  const formals = nodes.map(takeApart).filter(({ pattern }) => !isThis(pattern));
  const last = formals.findLastIndex((formal) => !formal.isRest);
  return formals.map((formal, index) => readParameter(formal, index === last, context));
};

const takeApart = (node: ParamPattern): Formal => {
  const { start } = node;
  if (node.type === "RestElement") {
    const annotation = node.typeAnnotation?.typeAnnotation ?? annotationOf(node.argument);
    return { pattern: node.argument, annotation, default: undefined, optional: true, start, isRest: true };
  }
  // Node refuses parameter properties, so a module that has one was never loaded
  const own = (node.type === "TSParameterProperty" ? node.parameter : node) as BindingPattern;
  const pattern = own.type === "AssignmentPattern" ? own.left : own;
  const fallback = own.type === "AssignmentPattern" ? own.right : undefined;
  const optional = fallback !== undefined || (pattern as { optional?: boolean }).optional === true;
  return { pattern, annotation: annotationOf(pattern), default: fallback, optional, start, isRest: false };
};

const annotationOf = (pattern: BindingPattern): TSType | undefined =>
  "typeAnnotation" in pattern ? (pattern.typeAnnotation?.typeAnnotation ?? undefined) : undefined;

const isThis = (pattern: BindingPattern): boolean => pattern.type === "Identifier" && pattern.name === "this";

const readParameter = (formal: Formal, isLast: boolean, context: ParameterContext): Parameter => {
  const { pattern, start } = formal;
  const location = context.scope.module.source.location(start);
  if (formal.isRest) return readRest(formal, context);
  if (pattern.type === "ObjectPattern" && isLast) return readPattern(pattern, formal, context);
  if (pattern.type !== "Identifier") {
    throw new SignatureError(
      "UNREADABLE_PARAMETER",
      "a destructuring pattern takes the keyword arguments, so it must be an object pattern and the last parameter, or the last before a rest parameter. Give this parameter a name and take it apart in the body.",
      location,
    );
  }
  const { name } = pattern;
  const doc = readDocComment(context.scope.module, start);
  const tag = context.doc.parameters.get(name);
  const written = writtenType(formal, [name], context);
  const { type, optional } = splitUndefined(written);
  const isKeywords = isLast && takesKeywords(type, context);
  return {
    role: isKeywords ? "keywords" : "positional",
    name,
    type: refined(type, doc, tag, context),
    optional: formal.optional || optional,
    ...defaultOf(formal.default),
    ...describedBy(tag?.description || doc.description),
    location,
  };
};

/** The type of a parameter by its annotation, else by its default. */
const writtenType = (formal: Formal, names: readonly string[], context: ParameterContext): TypeNode => {
  const { annotation, default: fallback } = formal;
  if (annotation) return guarded(annotation, names, context);
  return fallback ? defaultType(fallback, names, context) : { kind: "untyped" };
};

const guarded = (annotation: TSType, names: readonly string[], context: ParameterContext): TypeNode => {
  const { types, scope, onUnreadable } = context;
  return reading(
    () => types.read(annotation, scope),
    (error) =>
      readEach(annotation, context) ?? onUnreadable(error, names, scope.module.source.slice(annotation)),
  );
};

/** One property that cannot be read says nothing against the others: each is asked for by its own name. */
const readEach = (
  annotation: TSType,
  { types, scope, onUnreadable }: ParameterContext,
): TypeNode | undefined => {
  const shape = types.shape(annotation, scope);
  if (!shape) return undefined;
  const properties = [...shape.properties].map(([name, property]) => ({
    ...property,
    read: () => reading(property.read, (error) => onUnreadable(error, [name], name)),
  }));
  const names = [...shape.properties.keys()];
  return readShape({
    ...shape,
    properties: new Map(properties.map((property, index) => [names[index]!, property])),
  });
};

const reading = (read: () => TypeNode, onUnreadable: (error: SignatureError) => TypeNode): TypeNode => {
  try {
    return read();
  } catch (error) {
    if (error instanceof SignatureError && error.code === "UNREADABLE_TYPE") return onUnreadable(error);
    throw error;
  }
};

const defaultType = (fallback: Expression, names: readonly string[], context: ParameterContext): TypeNode => {
  const { types, scope, onUnreadable } = context;
  // an empty object says nothing of its names
  if (fallback.type === "ObjectExpression" && fallback.properties.length === 0) {
    return { kind: "object", properties: [], index: { kind: "untyped" } };
  }
  if (fallback.type === "Identifier" && fallback.name === "undefined") return { kind: "untyped" };
  const type = types.valueType(fallback, scope);
  if (type) return type.kind === "null" ? { kind: "untyped" } : type;
  if (!scope.module.typed) return { kind: "untyped" };
  const text = scope.module.source.slice(fallback);
  const error = new SignatureError(
    "UNREADABLE_TYPE",
    `cannot tell the type from the default \`${text}\`. Write the type: \`${names.at(-1)}: number = ...\``,
    scope.module.source.location(fallback.start),
  );
  return onUnreadable(error, names, text);
};

const takesKeywords = (type: TypeNode, { types }: ParameterContext): boolean => {
  if (type.kind === "union") {
    const members = type.members.filter((member) => member.kind !== "null");
    return (
      members.length > 0 && members.every((member) => keywordShapes(member, types.definitions).length > 0)
    );
  }
  return keywordShapes(type, types.definitions).length > 0;
};

const refined = (
  type: TypeNode,
  doc: { readonly refinements: readonly RefinementTag[] },
  tag: ParameterTag | undefined,
  { types, scope }: ParameterContext,
): TypeNode => types.refine(type, [...(tag?.refinements ?? []), ...doc.refinements], scope.module);

const readRest = (formal: Formal, context: ParameterContext): Parameter => {
  const { pattern, start } = formal;
  const location = context.scope.module.source.location(start);
  if (pattern.type !== "Identifier") {
    throw new SignatureError(
      "UNREADABLE_PARAMETER",
      "a rest parameter takes path segments, so it needs a name",
      location,
    );
  }
  const { name } = pattern;
  const doc = readDocComment(context.scope.module, start);
  const tag = context.doc.parameters.get(name);
  const written: TypeNode = formal.annotation
    ? guarded(formal.annotation, [name], context)
    : { kind: "array", items: { kind: "untyped" } };
  const list: TypeNode =
    written.kind === "unreadable" || written.kind === "unknown" ? { kind: "array", items: written } : written;
  if (list.kind !== "array") {
    throw new SignatureError(
      "UNREADABLE_PARAMETER",
      "a rest parameter takes any number of path segments, so its type must be a list: `...path: string[]`",
      location,
    );
  }
  return {
    role: "rest",
    name,
    type: refined(list.items, doc, tag, context),
    optional: true,
    ...describedBy(tag?.description || doc.description),
    location,
  };
};

/** A destructuring pattern: its names, with the types that its annotation gives them. */
const readPattern = (pattern: ObjectPattern, formal: Formal, context: ParameterContext): Parameter => {
  const names = pattern.properties.flatMap((property) =>
    property.type === "Property" ? [propertyName(property) ?? ""] : [],
  );
  const written =
    formal.annotation && splitUndefined(guarded(formal.annotation, [PATTERN_NAME, ...names], context));
  const described = written ? mergeTypes(written.type, pattern, context) : untypedObject(pattern, context);
  return {
    role: "keywords",
    name: PATTERN_NAME,
    type: withTags(described, context),
    optional: formal.optional || written?.optional === true,
    ...defaultOf(formal.default),
    location: context.scope.module.source.location(formal.start),
  };
};

/** The annotation's type, with the defaults that the pattern has; a rest element takes any name. */
const mergeTypes = (type: TypeNode, pattern: ObjectPattern, context: ParameterContext): TypeNode => {
  if (type.kind === "unreadable" || type.kind === "unknown") {
    return untypedObject(pattern, context);
  }
  const map = (object: ObjectNode): ObjectNode => {
    const properties = object.properties.map((property) => {
      const fallback = defaultIn(pattern, property.name);
      return fallback ? { ...property, optional: true, ...defaultOf(fallback) } : property;
    });
    const index = object.index ?? (hasRest(pattern) ? ({ kind: "unknown" } as const) : undefined);
    return { ...object, properties, ...(index && { index }) };
  };
  const shapes = keywordShapes(type, context.types.definitions);
  if (shapes.length === 0) {
    throw new SignatureError(
      "UNREADABLE_PARAMETER",
      "the keyword arguments come as one object, so the type of the pattern must be an object type",
      context.scope.module.source.location(pattern.start),
    );
  }
  return shapes.length === 1 ? map(shapes[0]!) : { kind: "union", members: shapes.map(map) };
};

const hasRest = (pattern: ObjectPattern): boolean =>
  pattern.properties.some(({ type }) => type === "RestElement");

const defaultIn = (pattern: ObjectPattern, name: string): Expression | undefined => {
  for (const property of pattern.properties) {
    if (
      property.type === "Property" &&
      propertyName(property) === name &&
      property.value.type === "AssignmentPattern"
    ) {
      return property.value.right;
    }
  }
  return undefined;
};

/** Plain JavaScript: every name is required that has no default. */
const untypedObject = (pattern: ObjectPattern, context: ParameterContext): ObjectNode => {
  const properties: PropertyNode[] = [];
  for (const property of pattern.properties) {
    if (property.type !== "Property") continue;
    const name = propertyName(property);
    if (name === undefined) {
      throw new SignatureError(
        "UNREADABLE_PARAMETER",
        "the name of a keyword argument must be written out",
        context.scope.module.source.location(property.start),
      );
    }
    const fallback = property.value.type === "AssignmentPattern" ? property.value.right : undefined;
    const type: TypeNode = fallback ? defaultType(fallback, [name], context) : { kind: "untyped" };
    properties.push({ name, type, optional: fallback !== undefined, ...defaultOf(fallback) });
  }
  return { kind: "object", properties, ...(hasRest(pattern) && { index: { kind: "untyped" } }) };
};

/** Puts `@param lang ...` and `@param options.lang ...` on the keyword arguments that they name. */
const withTags = (type: TypeNode, context: ParameterContext): TypeNode => {
  if (type.kind === "union")
    return { ...type, members: type.members.map((member) => withTags(member, context)) };
  if (type.kind !== "object") return type;
  const properties = type.properties.map((property) => {
    const tag = tagOf(context.doc, property.name);
    if (!tag) return property;
    return {
      ...property,
      type: refined(property.type, { refinements: [] }, tag, context),
      ...describedBy(tag.description || property.description),
    };
  });
  return { ...type, properties };
};

const tagOf = ({ parameters }: DocComment, name: string): ParameterTag | undefined => {
  for (const [path, tag] of parameters) if (path === name || path.endsWith(`.${name}`)) return tag;
  return undefined;
};

const defaultOf = (fallback: Expression | undefined): { readonly default?: JsonLiteral } => {
  const value = fallback && jsonLiteral(fallback);
  return value === undefined ? {} : { default: value };
};

const describedBy = (description: string | undefined): { readonly description?: string } =>
  description ? { description } : {};
