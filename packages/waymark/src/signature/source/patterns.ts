import type { Expression, ObjectPattern } from "oxc-parser";
import { keywordShapes } from "../model/keyword-shapes.ts";
import {
  type ObjectNode,
  PATTERN_NAME,
  type Parameter,
  type PropertyNode,
  type TypeNode,
} from "../model/signature.ts";
import { SignatureError } from "../model/signature-error.ts";
import {
  type ArgumentNames,
  defaultOf,
  defaultType,
  describedBy,
  type Formal,
  type ParameterContext,
  readAnnotation,
  refined,
} from "./annotations.ts";
import { splitUndefined } from "./combine.ts";
import { commentType } from "./comment-types.ts";
import type { DocComment, ParameterTag } from "./jsdoc.ts";
import { propertyName } from "./values.ts";

/** A destructuring pattern: its names with the types of its annotation. */
export function readPattern(pattern: ObjectPattern, formal: Formal, context: ParameterContext): Parameter {
  const parts = pattern.properties.map((property) =>
    property.type === "Property" ? (propertyName(property) ?? "") : "...",
  );
  const names: ArgumentNames = { own: PATTERN_NAME, parts, index: formal.index };
  const annotated = formal.annotation
    ? readAnnotation(formal.annotation, names, context)
    : commentType(formal, undefined, context);
  const written = annotated && splitUndefined(annotated);
  const described = written ? mergeTypes(written.type, pattern, context) : untypedObject(pattern, context);
  return {
    role: "keywords",
    name: PATTERN_NAME,
    type: withTags(described, undefined, context),
    optional: formal.optional || written?.optional === true,
    ...defaultOf(formal.default),
    location: context.scope.module.source.location(formal.start),
  };
}

/**
 * The annotation's type with the defaults of the pattern. A rest element holds the remaining names of the type. It
 * does not open a closed type.
 */
function mergeTypes(type: TypeNode, pattern: ObjectPattern, context: ParameterContext): TypeNode {
  if (type.kind === "unreadable" || type.kind === "unknown" || type.kind === "nonNull") {
    return untypedObject(pattern, context);
  }
  const map = (object: ObjectNode): ObjectNode => {
    const properties = object.properties.map((property) => {
      const fallback = defaultIn(pattern, property.name);
      return fallback ? { ...property, optional: true, ...defaultOf(fallback) } : property;
    });
    return { ...object, properties };
  };
  const shapes = keywordShapes(type, context.types.definitions);
  if (shapes.length === 0) {
    throw new SignatureError(
      "UNREADABLE_PARAMETER",
      "the keyword arguments are one object, so the type of the pattern must be an object type",
      context.scope.module.source.location(pattern.start),
    );
  }
  return shapes.length === 1 ? map(shapes[0]!) : { kind: "union", members: shapes.map(map) };
}

function hasRest(pattern: ObjectPattern): boolean {
  return pattern.properties.some(({ type }) => type === "RestElement");
}

function defaultIn(pattern: ObjectPattern, name: string): Expression | undefined {
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
}

/** A pattern without a type. A name without a default is required, and a rest element accepts any other name. */
function untypedObject(pattern: ObjectPattern, context: ParameterContext): ObjectNode {
  const properties: PropertyNode[] = [];
  for (const property of pattern.properties) {
    if (property.type !== "Property") continue;
    const name = propertyName(property);
    if (name === undefined) {
      throw new SignatureError(
        "UNREADABLE_PARAMETER",
        "the name of a keyword argument must be a literal",
        context.scope.module.source.location(property.start),
      );
    }
    const fallback = property.value.type === "AssignmentPattern" ? property.value.right : undefined;
    const type: TypeNode = fallback ? defaultType(fallback, name, context) : { kind: "untyped" };
    properties.push({ name, type, optional: fallback !== undefined, ...defaultOf(fallback) });
  }
  return { kind: "object", properties, ...(hasRest(pattern) && { index: { kind: "untyped" } }) };
}

/**
 * Adds `@param lang ...` and `@param options.lang ...` to the keyword arguments that they name. The former applies if
 * the object has no name of its own.
 */
export function withTags(type: TypeNode, name: string | undefined, context: ParameterContext): TypeNode {
  if (type.kind === "union") {
    return { ...type, members: type.members.map((member) => withTags(member, name, context)) };
  }
  if (type.kind !== "object") return type;
  const properties = type.properties.map((property) => {
    const tag = tagOf(context.doc, name, property.name);
    if (!tag) return property;
    return {
      ...property,
      type: refined(property.type, { refinements: [] }, tag, context),
      ...describedBy(tag.description || property.description),
    };
  });
  return { ...type, properties };
}

function tagOf(
  { parameters }: DocComment,
  owner: string | undefined,
  property: string,
): ParameterTag | undefined {
  if (owner !== undefined) return parameters.get(`${owner}.${property}`);
  for (const [path, tag] of parameters) if (path.endsWith(`.${property}`)) return tag;
  return parameters.get(property);
}
