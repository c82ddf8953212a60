import type { BindingPattern, Expression, TSType } from "oxc-parser";
import type { JsonLiteral, TypeNode } from "../model/signature.ts";
import { SignatureError } from "../model/signature-error.ts";
import { type Documentation, documentationOf } from "./documentation.ts";
import { type DocComment, NO_COMMENT, type ParameterTag, type RefinementTag } from "./jsdoc.ts";
import type { Scope } from "./scope.ts";
import { readShape } from "./shapes.ts";
import type { TypeReader } from "./type-reader.ts";
import { jsonLiteral } from "./values.ts";

export interface ParameterContext {
  readonly types: TypeReader;
  readonly scope: Scope;
  /** The method's own JSDoc, for its `@param` tags. */
  readonly doc: DocComment;
  /**
   * Handles a type that cannot be read: returns its replacement, or throws. Schemas cover the type if they have all
   * names of one of the lists.
   */
  readonly onUnreadable: (
    error: SignatureError,
    covers: readonly (readonly string[])[],
    text: string,
  ) => TypeNode;
}

/** The parts of a parameter: its pattern, its declared type, its default. */
export interface Formal {
  readonly pattern: BindingPattern;
  readonly annotation: TSType | undefined;
  readonly default: Expression | undefined;
  readonly optional: boolean;
  readonly start: number;
  readonly isRest: boolean;
  /** Its position among the parameters, without a `this` parameter. */
  readonly index: number;
}

/** The names under which schemas may cover an argument: its own name, or the names of a pattern's parts. */
export interface ArgumentNames {
  readonly own: string;
  readonly parts?: readonly string[];
  /** The position of the parameter. */
  readonly index: number;
}

/** Reads an annotation. Replaces the parts that cannot be read, if a schema covers them. */
export function readAnnotation(
  annotation: TSType,
  names: ArgumentNames,
  context: ParameterContext,
): TypeNode {
  const { types, scope, onUnreadable } = context;
  const type = reading(
    () => types.read(annotation, scope),
    (first) =>
      reading(
        () => types.askParameter({ node: annotation, scope, index: names.index }, first),
        (error) => {
          const text = scope.module.source.slice(annotation);
          const each = readEach(annotation, names, context);
          return each ?? onUnreadable(error, [[names.own], names.parts ?? []], text);
        },
      ),
  );
  types.checkComments(annotation, scope);
  return types.verified(type, { node: annotation, scope, index: names.index });
}

/** An unreadable property does not affect the others, so each is read separately. */
function readEach(
  annotation: TSType,
  names: ArgumentNames,
  { types, scope, onUnreadable }: ParameterContext,
): TypeNode | undefined {
  const shape = reading(
    () => types.shape(annotation, scope),
    () => undefined,
  );
  if (!shape) return undefined;
  const properties = [...shape.properties].map(([name, property]) => {
    const read = () => reading(property.read, (error) => onUnreadable(error, [[name], [names.own]], name));
    return [name, { ...property, read }] as const;
  });
  return readShape({ ...shape, properties: new Map(properties) });
}

function reading<Result>(read: () => Result, onUnreadable: (error: SignatureError) => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof SignatureError && error.code === "UNREADABLE_TYPE") return onUnreadable(error);
    throw error;
  }
}

/** The type of a default value. */
export function defaultType(
  fallback: Expression,
  name: string,
  context: ParameterContext,
  index?: number,
): TypeNode {
  const { types, scope, onUnreadable } = context;
  // An empty object declares no names.
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
    `cannot derive the type from the default \`${text}\`. Write the type: \`${name}: number = ...\``,
    scope.module.source.location(fallback.start),
  );
  const give = (reason: SignatureError) => onUnreadable(reason, [[name]], text);
  if (index === undefined) return give(error);
  return reading(() => types.askParameter({ node: fallback, scope, index }, error), give);
}

/** Adds the refinements of a parameter's tag and comment. */
export function refined(
  type: TypeNode,
  doc: { readonly refinements: readonly RefinementTag[] },
  tag: ParameterTag | undefined,
  { types, scope }: ParameterContext,
): TypeNode {
  return types.refine(type, [...(tag?.refinements ?? []), ...doc.refinements], scope.module);
}

export function defaultOf(fallback: Expression | undefined): { readonly default?: JsonLiteral } {
  const value = fallback && jsonLiteral(fallback);
  return value === undefined ? {} : { default: value };
}

export function describedBy(description: string | undefined): { readonly description?: string } {
  return description ? { description } : {};
}

/** The documentation in the comment before a parameter, without its description. */
export function documentedBy({ examples, deprecated, default: fallback }: DocComment): Documentation {
  return documentationOf([
    { ...NO_COMMENT, examples, deprecated, ...(fallback !== undefined && { default: fallback }) },
  ]);
}
