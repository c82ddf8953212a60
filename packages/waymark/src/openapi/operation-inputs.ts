import { keywordShapes } from "../signature/model/keyword-shapes.ts";
import {
  type MethodSignature,
  type ObjectNode,
  PATTERN_NAME,
  type Parameter,
  type TypeNode,
} from "../signature/model/signature.ts";
import type { JsonSchema, MediaType, OpenApiParameter, RequestBody } from "./document-types.ts";
import { described, type SchemaContext, schemaOf } from "./json-schema.ts";

/**
 * The verbs whose keyword arguments are documented as query parameters. For other verbs they are documented as a
 * body.
 */
export const QUERY_VERBS: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"]);

/** Finds the JSON Schema of the Standard Schema that replaces an argument's type. */
export type SchemaLookup = (name: string) => JsonSchema | undefined;

export interface ParameterContext {
  readonly schemas: SchemaContext;
  readonly lookup: SchemaLookup;
}

export function pathParameter(
  parameter: Parameter,
  name: string,
  { schemas, lookup }: ParameterContext,
): OpenApiParameter {
  const isRest = parameter.role === "rest";
  const description = isRest ? restDescription(parameter) : parameter.description;
  const { examples, deprecated } = parameter;
  const schema = described(lookup(parameter.name) ?? textSchema(parameter.type, schemas), {
    ...(examples && { examples }),
  });
  return {
    name,
    in: "path",
    required: true,
    ...(description && { description }),
    ...(deprecated && { deprecated }),
    schema,
  };
}

function restDescription({ description }: Parameter): string {
  return `${description ? `${description} ` : ""}One or more path segments.`;
}

/**
 * The schema of an argument that is sent as text. An unknown type is a string, and a list also accepts a single text.
 */
function textSchema(type: TypeNode, context: SchemaContext): JsonSchema {
  if (TEXT_KINDS.has(type.kind)) return { type: "string" };
  return schemaOf(type, context);
}

const TEXT_KINDS: ReadonlySet<TypeNode["kind"]> = new Set(["unknown", "untyped", "nonNull", "unreadable"]);

/** The keyword arguments as query parameters: every name of every form of the object. */
export function queryParameters(
  parameter: Parameter,
  signature: MethodSignature,
  { schemas, lookup }: ParameterContext,
): OpenApiParameter[] {
  const shapes = keywordShapes(parameter.type, signature.definitions);
  const names = [...new Set(shapes.flatMap((shape) => shape.properties.map((property) => property.name)))];
  const parameters = names.map((name): OpenApiParameter => {
    const found = shapes.map((shape) => shape.properties.find((property) => property.name === name));
    const properties = found.filter((property) => property !== undefined);
    const [first] = properties;
    const required =
      !parameter.optional &&
      properties.length === shapes.length &&
      properties.every((property) => !property.optional);
    const own = lookup(name);
    const types = properties.map((property) => property.type);
    const type: TypeNode =
      types.length === 1 ? types[0]! : { kind: "union", members: types.flatMap(membersOf) };
    const schema = described(own ?? textSchema(type, schemas), { ...first!, description: "" });
    return {
      name,
      in: "query",
      required,
      ...(first!.description && { description: first!.description }),
      ...(!own && isNested(type) ? { content: { "application/json": { schema } } } : { schema }),
    };
  });
  const open = shapes.find((shape) => shape.index ?? shape.patterns);
  if (open) {
    // With the default style "form" and explode, each property is a query argument.
    const schema: JsonSchema = {
      type: "object",
      ...(open.patterns && {
        patternProperties: Object.fromEntries(
          open.patterns.map(({ pattern, type }) => [pattern, textSchema(type, schemas)]),
        ),
      }),
      additionalProperties: open.index ? textSchema(open.index, schemas) : false,
    };
    parameters.push({ name: freeName(parameter.name, names), in: "query", required: false, schema });
  }
  return parameters;
}

const membersOf = (type: TypeNode): readonly TypeNode[] => (type.kind === "union" ? type.members : [type]);

/** True for an object, which a query carries as JSON text. */
function isNested(type: TypeNode): boolean {
  return membersOf(type).every((member) => member.kind === "object" || member.kind === "reference");
}

function freeName(name: string, taken: readonly string[]): string {
  return taken.includes(name) ? freeName(`${name}_`, taken) : name;
}

/** The keyword arguments as a body: JSON or a form, or only a form if one of them is a file. */
export function keywordBody(
  parameter: Parameter,
  signature: MethodSignature,
  { schemas, lookup }: ParameterContext,
): RequestBody {
  const shapes = keywordShapes(parameter.type, signature.definitions);
  const whole = parameter.name === PATTERN_NAME ? undefined : lookup(parameter.name);
  const schema = whole ?? withSchemas(schemaOf(parameter.type, schemas), shapes, lookup);
  const isOptional = (shape: ObjectNode) => shape.properties.every((property) => property.optional);
  const required = !parameter.optional && (shapes.length === 0 || !shapes.some(isOptional));
  return {
    required,
    ...(parameter.description && { description: parameter.description }),
    content: mediaTypes(parameter.type, shapes, { schema }),
  };
}

/** A body that is a JSON value other than an object. */
export function valueBody(parameter: Parameter, { schemas, lookup }: ParameterContext): RequestBody {
  return {
    required: !parameter.optional,
    ...(parameter.description && { description: parameter.description }),
    content: { "application/json": { schema: lookup(parameter.name) ?? schemaOf(parameter.type, schemas) } },
  };
}

/** Replaces the types of single arguments by the descriptions of their schemas. */
function withSchemas(schema: JsonSchema, shapes: readonly ObjectNode[], lookup: SchemaLookup): JsonSchema {
  const [shape] = shapes;
  if (shapes.length !== 1 || !shape || !schema.properties) return schema;
  const own = shape.properties.flatMap(({ name, description }) => {
    const found = lookup(name);
    return found ? [[name, described(found, description ? { description } : {})] as const] : [];
  });
  return own.length === 0
    ? schema
    : { ...schema, properties: { ...(schema.properties as object), ...Object.fromEntries(own) } };
}

function mediaTypes(type: TypeNode, shapes: readonly ObjectNode[], media: MediaType): RequestBody["content"] {
  const values = shapes.flatMap((shape) => [
    ...shape.properties.map((property) => property.type),
    ...(shape.index ? [shape.index] : []),
    ...(shape.patterns ?? []).map((pattern) => pattern.type),
  ]);
  if (values.some((value) => hasFile(value))) return { "multipart/form-data": media };
  // A form carries texts and lists of texts, nothing nested.
  const isFlat = type.kind !== "reference" && values.every((value) => membersOf(value).every(isFlatValue));
  return isFlat
    ? { "application/json": media, "application/x-www-form-urlencoded": media }
    : { "application/json": media };
}

function hasFile(type: TypeNode): boolean {
  if (type.kind === "file" || type.kind === "blob" || type.kind === "bytes") return true;
  if (type.kind === "union") return type.members.some(hasFile);
  return type.kind === "array" && hasFile(type.items);
}

function isFlatValue(type: TypeNode): boolean {
  if (type.kind === "array")
    return membersOf(type.items).every((item) => item.kind !== "array" && isFlatValue(item));
  return type.kind !== "object" && type.kind !== "reference" && type.kind !== "tuple";
}
