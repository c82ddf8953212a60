import type { BindingPattern, ParamPattern, TSType } from "oxc-parser";
import { isData, keywordNames, keywordShapes } from "../model/keyword-shapes.ts";
import { PATTERN_NAME, type Parameter, type TypeNode } from "../model/signature.ts";
import { SignatureError } from "../model/signature-error.ts";
import {
  defaultOf,
  defaultType,
  describedBy,
  documentedBy,
  type Formal,
  type ParameterContext,
  readAnnotation,
  refined,
} from "./annotations.ts";
import { splitUndefined, UNKNOWN } from "./combine.ts";
import { commentType } from "./comment-types.ts";
import { readDocComment } from "./jsdoc.ts";
import { readPattern, withTags } from "./patterns.ts";

/**
 * Reads a method's parameters.
 *
 * @throws SignatureError at the part that cannot be read
 */
export function readParameters(nodes: readonly ParamPattern[], context: ParameterContext): Parameter[] {
  const formals = nodes
    .map(takeApart)
    .filter(({ pattern }) => !isThis(pattern))
    .map((formal, index) => ({ ...formal, index }));
  const last = formals.findLastIndex((formal) => !formal.isRest);
  const parameters = formals.map((formal, index) => readParameter(formal, index === last, context));
  return byName(parameters, context);
}

/** Two objects are both read by their names: `{ "book": {}, "author": {} }`. */
function byName(parameters: readonly Parameter[], { types }: ParameterContext): Parameter[] {
  const { definitions } = types;
  const data = parameters.filter(({ role, type }) => role === "positional" && isData(type, definitions));
  const objects = data.filter(({ type }) => keywordShapes(type, definitions).length > 0);
  return parameters.map((parameter) => {
    if (parameter.role !== "keywords") return parameter;
    if (parameter.name !== PATTERN_NAME && objects.length > 0) return { ...parameter, role: "positional" };
    const names = keywordNames(keywordShapes(parameter.type, definitions));
    const clash = data.find(({ name }) => names.includes(name));
    if (!clash) return parameter;
    throw new SignatureError(
      "UNREADABLE_PARAMETER",
      `${clash.name} is a parameter and also a name of the keyword arguments, so a body cannot fill both. Rename one of them`,
      clash.location,
    );
  });
}

function takeApart(node: ParamPattern): Omit<Formal, "index"> {
  const { start } = node;
  if (node.type === "RestElement") {
    const annotation = node.typeAnnotation?.typeAnnotation ?? annotationOf(node.argument);
    return { pattern: node.argument, annotation, default: undefined, optional: true, start, isRest: true };
  }
  // Node rejects parameter properties, so a module with one was never loaded.
  const own = (node.type === "TSParameterProperty" ? node.parameter : node) as BindingPattern;
  const pattern = own.type === "AssignmentPattern" ? own.left : own;
  const fallback = own.type === "AssignmentPattern" ? own.right : undefined;
  const optional = fallback !== undefined || (pattern as { optional?: boolean }).optional === true;
  return { pattern, annotation: annotationOf(pattern), default: fallback, optional, start, isRest: false };
}

function annotationOf(pattern: BindingPattern): TSType | undefined {
  return "typeAnnotation" in pattern ? (pattern.typeAnnotation?.typeAnnotation ?? undefined) : undefined;
}

const isThis = (pattern: BindingPattern): boolean => pattern.type === "Identifier" && pattern.name === "this";

function readParameter(formal: Formal, isLast: boolean, context: ParameterContext): Parameter {
  const { pattern, start } = formal;
  const location = context.scope.module.source.location(start);
  if (formal.isRest) return readRest(formal, context);
  if (pattern.type === "ObjectPattern" && isLast) return readPattern(pattern, formal, context);
  if (pattern.type !== "Identifier") {
    throw new SignatureError(
      "UNREADABLE_PARAMETER",
      "a destructuring pattern takes the keyword arguments, so it must be an object pattern and the last parameter, or the last before a rest parameter. Give this parameter a name and destructure it in the body.",
      location,
    );
  }
  const { name } = pattern;
  const doc = readDocComment(context.scope.module, start);
  const tag = context.doc.parameters.get(name);
  const written = writtenType(formal, name, context);
  const { type, optional } = splitUndefined(written);
  // `{}` as the keyword arguments accepts any name.
  const own: TypeNode = isLast && type.kind === "nonNull" ? ANY_KEYWORDS : type;
  const isKeywords = isLast && takesKeywords(own, context);
  return {
    role: isKeywords ? "keywords" : "positional",
    name,
    type: refined(isKeywords ? withTags(own, name, context) : own, doc, tag, context),
    optional: formal.optional || optional,
    ...documentedBy(doc),
    ...defaultOf(formal.default),
    ...describedBy(tag?.description || doc.description),
    location,
  };
}

/** The type of a parameter from its annotation, else from its default. */
function writtenType(formal: Formal, name: string, context: ParameterContext): TypeNode {
  const { annotation, default: fallback } = formal;
  if (annotation) return readAnnotation(annotation, { own: name, index: formal.index }, context);
  return (
    commentType(formal, name, context) ??
    (fallback ? defaultType(fallback, name, context, formal.index) : { kind: "untyped" })
  );
}

const ANY_KEYWORDS: TypeNode = { kind: "object", properties: [], index: UNKNOWN };

function takesKeywords(type: TypeNode, { types }: ParameterContext): boolean {
  if (type.kind === "union") {
    const members = type.members.filter((member) => member.kind !== "null");
    return (
      members.length > 0 && members.every((member) => keywordShapes(member, types.definitions).length > 0)
    );
  }
  return keywordShapes(type, types.definitions).length > 0;
}

function readRest(formal: Formal, context: ParameterContext): Parameter {
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
    ? readAnnotation(formal.annotation, { own: name, index: formal.index }, context)
    : (commentType(formal, name, context) ?? { kind: "array", items: { kind: "untyped" } });
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
}
