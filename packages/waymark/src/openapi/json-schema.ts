import { INTEGER_FORMATS } from "../signature/convert/formats.ts";
import { MAXIMUM_PATTERN_TEXT } from "../signature/convert/refinements.ts";
import { findDiscriminator } from "../signature/convert/unions.ts";
import type {
  LiteralNode,
  ObjectNode,
  PropertyNode,
  Refinements,
  ScalarNode,
  TypeNode,
  UnionNode,
} from "../signature/model/signature.ts";
import { TEMPORAL_TYPES, type TemporalType } from "../signature/model/temporal.ts";
import type { JsonSchema } from "./document-types.ts";

/** The direction of a schema: values that a client sends, or values that it receives. */
export interface SchemaContext {
  /** True for requests: their objects have only the declared names. Objects of an answer may have more. */
  readonly closesObjects: boolean;
  /** The reference to the schema of a type that contains itself, by its name in the signature. */
  readonly reference: (name: string) => string;
  /** Makes a schema a component of this name, or a similar one. @returns the reference to it */
  readonly share: (name: string, schema: JsonSchema) => string;
}

const BIGINT: JsonSchema = { type: "string", pattern: "^-?(?:0|[1-9][0-9]*)$" };
const BINARY: JsonSchema = { type: "string", format: "binary", contentMediaType: "application/octet-stream" };

/** The JSON Schema (2020-12) of a type. Definitions become references, everything else is inline. */
export function schemaOf(type: TypeNode, context: SchemaContext): JsonSchema {
  switch (type.kind) {
    case "literal":
      return enumOf([type]);
    case "union":
      return unionSchema(type, context);
    case "array":
      return {
        type: "array",
        items: schemaOf(type.items, context),
        ...type.refinements,
      };
    case "tuple": {
      const least = type.items.filter((item) => !item.optional).length;
      return {
        type: "array",
        ...(type.items.length > 0 && { prefixItems: type.items.map((item) => schemaOf(item.type, context)) }),
        items: type.rest ? schemaOf(type.rest, context) : false,
        minItems: least,
        ...(!type.rest && { maxItems: type.items.length }),
      };
    }
    case "object":
      return objectSchema(type, context);
    case "temporal":
      return { type: "string", ...TEMPORAL_FORMATS[type.type], examples: [TEMPORAL_TYPES[type.type]] };
    case "reference":
      return { $ref: context.reference(type.name) };
    case "stream":
      return { type: "array", items: schemaOf(type.items, context) };
    case "unreadable":
    case "response":
    case "problem":
      return {};
    default:
      return scalarSchema(type);
  }
}

function scalarSchema({ kind, refinements = {} }: ScalarNode): JsonSchema {
  switch (kind) {
    case "string":
      return {
        type: "string",
        ...(refinements.pattern !== undefined && { maxLength: MAXIMUM_PATTERN_TEXT }),
        ...refinements,
      };
    case "number":
      return numberSchema(refinements);
    case "bigint":
      return BIGINT;
    case "boolean":
      return { type: "boolean" };
    case "date":
      return { type: "string", format: refinements.format ?? "date-time" };
    case "url":
      return { type: "string", format: "uri" };
    case "null":
      return { type: "null" };
    case "file":
    case "blob":
    case "bytes":
      return BINARY;
    case "never":
    case "undefined":
      return { not: {} };
    case "unknown":
    case "untyped":
      return {};
    case "nonNull":
      return { not: { type: "null" } };
  }
}

function numberSchema({ format, integer, ...bounds }: Refinements): JsonSchema {
  const isInteger = integer || (format !== undefined && INTEGER_FORMATS.has(format));
  return {
    type: isInteger ? "integer" : "number",
    ...(format !== undefined && format !== "integer" && { format }),
    // Larger integers lose digits, so requests with them are refused.
    ...(isInteger && format !== "int32" && exactBounds(bounds)),
    ...bounds,
  };
}

function exactBounds({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: Refinements): JsonSchema {
  return {
    ...((minimum ?? exclusiveMinimum) === undefined && { minimum: Number.MIN_SAFE_INTEGER }),
    ...((maximum ?? exclusiveMaximum) === undefined && { maximum: Number.MAX_SAFE_INTEGER }),
  };
}

/** The types of `Temporal` whose text has a format of JSON Schema. */
const TEMPORAL_FORMATS: Readonly<Partial<Record<TemporalType, JsonSchema>>> = {
  Instant: { format: "date-time" },
  PlainDate: { format: "date" },
  Duration: { format: "duration" },
};

function objectSchema(type: ObjectNode, context: SchemaContext): JsonSchema {
  const required = type.properties.filter((property) => !property.optional).map((property) => property.name);
  return {
    type: "object",
    ...(type.name && { title: type.name }),
    ...(type.description && { description: type.description }),
    ...(type.properties.length > 0 && { properties: propertySchemas(type.properties, context) }),
    ...(required.length > 0 && { required }),
    ...(type.patterns && {
      patternProperties: Object.fromEntries(
        type.patterns.map(({ pattern, type: own }) => [pattern, schemaOf(own, context)]),
      ),
    }),
    ...(type.index
      ? { additionalProperties: schemaOf(type.index, context) }
      : context.closesObjects && { additionalProperties: false }),
  };
}

function propertySchemas(properties: readonly PropertyNode[], context: SchemaContext): JsonSchema {
  const schemas: Record<string, JsonSchema> = {};
  for (const property of properties) {
    // A property may have the name __proto__.
    Object.defineProperty(schemas, property.name, {
      value: described(schemaOf(property.type, context), property),
      enumerable: true,
    });
  }
  return schemas;
}

type Described = Partial<Pick<PropertyNode, "description" | "default" | "examples" | "deprecated">>;

/** Adds the documentation of a property or parameter to its schema. */
export function described(
  schema: JsonSchema,
  { description, default: fallback, examples, deprecated }: Described,
): JsonSchema {
  return {
    ...schema,
    ...(description && { description }),
    ...(fallback !== undefined && { default: fallback }),
    ...(examples && { examples }),
    ...(deprecated && { deprecated }),
  };
}

/** Literals become one `enum`, a nullable scalar has two types, and other unions become `anyOf`. */
function unionSchema({ members }: UnionNode, context: SchemaContext): JsonSchema {
  const literals = members.filter((member) => member.kind === "literal");
  const others = members.filter(
    (member) => member.kind !== "literal" && member.kind !== "null" && member.kind !== "undefined",
  );
  const hasNull = members.some((member) => member.kind === "null");
  const tagged = literals.length === 0 ? taggedSchema(others, context) : undefined;
  if (tagged !== undefined) return hasNull ? { anyOf: [tagged, { type: "null" }] } : tagged;
  const schemas = [
    ...(literals.length > 0 ? [enumOf(literals, hasNull && others.length === 0)] : []),
    ...others.map((member) => schemaOf(member, context)),
  ];
  const [only] = schemas;
  if (schemas.length === 1 && only) {
    if (!hasNull || literals.length > 0) return only;
    // A const or enum beside the type would still reject null.
    if (typeof only.type === "string" && !("enum" in only)) return { ...only, type: [only.type, "null"] };
  }
  return { anyOf: hasNull ? [...schemas, { type: "null" }] : schemas };
}

/**
 * The schema of objects that a literal text tells apart. A discriminator refers to the schemas of its members, so they become
 * components.
 */
function taggedSchema(members: readonly TypeNode[], context: SchemaContext): JsonSchema | undefined {
  const objects = members.filter((member) => member.kind === "object");
  if (objects.length < members.length) return undefined;
  const tag = findDiscriminator(objects);
  if (tag === undefined || [...tag.members.keys()].some((value) => typeof value !== "string"))
    return undefined;
  const texts = [...tag.members] as [string, number][];
  const references = objects.map((member, at) => {
    const first = texts.find(([, index]) => index === at)![0];
    return context.share(member.name ?? first, schemaOf(member, context));
  });
  return {
    oneOf: references.map(($ref) => ({ $ref })),
    discriminator: {
      propertyName: tag.name,
      mapping: Object.fromEntries(texts.map(([text, at]) => [text, references[at]])),
    },
  };
}

function enumOf(literals: readonly LiteralNode[], hasNull = false): JsonSchema {
  const values = literals.map(({ value }) => (typeof value === "object" ? value.bigint : value));
  const types = [...new Set(values.map((value) => typeof value)), ...(hasNull ? ["null"] : [])];
  return { type: types.length === 1 ? types[0] : types, enum: hasNull ? [...values, null] : values };
}
