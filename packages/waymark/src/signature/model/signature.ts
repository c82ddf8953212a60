import type { TemporalType } from "./temporal.ts";

/** A place in a source file. `line` and `column` count from 1, as in editors. */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The refinements of JSDoc tags. The names are those of JSON Schema. */
export interface Refinements {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  /** The JSON Schema `type` is `integer`. */
  readonly integer?: true;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: true;
}

export interface PropertyNode {
  readonly name: string;
  readonly type: TypeNode;
  /** Declared with `?`, may be undefined, or has a default in the destructuring pattern. */
  readonly optional: boolean;
  readonly description?: string;
  /** The default literal, if JSON can represent it, or the value of `@default`. */
  readonly default?: JsonLiteral;
  /** The values of `@example`. */
  readonly examples?: readonly JsonLiteral[];
  readonly deprecated?: true;
}

export interface TupleItem {
  readonly type: TypeNode;
  readonly optional: boolean;
}

export type JsonLiteral =
  | string
  | number
  | boolean
  | null
  | readonly JsonLiteral[]
  | { readonly [name: string]: JsonLiteral };

/**
 * Kinds without parts and parameters. `untyped` is a name without a type: text in a URL, anything in JSON. `nonNull`
 * is `{}`: anything but null.
 */
export type ScalarKind =
  | "string"
  | "number"
  | "bigint"
  | "boolean"
  | "date"
  | "url"
  | "null"
  | "undefined"
  | "unknown"
  | "nonNull"
  | "untyped"
  | "file"
  | "blob"
  | "bytes"
  | "never";

export interface ScalarNode {
  readonly kind: ScalarKind;
  readonly refinements?: Refinements;
  /** The pattern is a template literal type. Unlike a tag, it is part of the type for TypeScript. */
  readonly isTemplate?: true;
}

export interface LiteralNode {
  readonly kind: "literal";
  /** A bigint literal is `{ bigint: digits }`, so that a signature remains JSON. */
  readonly value: string | number | boolean | { readonly bigint: string };
}

/** A type of `Temporal`. */
export interface TemporalNode {
  readonly kind: "temporal";
  readonly type: TemporalType;
}

export interface UnionNode {
  readonly kind: "union";
  readonly members: readonly TypeNode[];
}

export interface ArrayNode {
  readonly kind: "array";
  readonly items: TypeNode;
  readonly refinements?: Refinements;
}

export interface TupleNode {
  readonly kind: "tuple";
  readonly items: readonly TupleItem[];
  readonly rest?: TypeNode;
}

/** An index signature of names that match a regular expression. */
export interface IndexPattern {
  readonly pattern: string;
  readonly type: TypeNode;
}

export interface ObjectNode {
  readonly kind: "object";
  /** Its name in the source, for documents. */
  readonly name?: string;
  readonly properties: readonly PropertyNode[];
  /** The type of undeclared names: an index signature, `Record<string, T>`, a rest element. */
  readonly index?: TypeNode;
  /** The types of undeclared names of a certain form: `Record<number, T>`, `` [name: `data-${string}`]: T ``. */
  readonly patterns?: readonly IndexPattern[];
  readonly description?: string;
}

/** Types that contain themselves, by name. */
export interface Definitions {
  readonly [name: string]: TypeNode;
}

/** A type that contains itself. {@link MethodSignature.definitions} has it under this name. */
export interface ReferenceNode {
  readonly kind: "reference";
  readonly name: string;
}

/** A type that could not be read. Allowed if a schema replaces it, or as "raw" with a warning. */
export interface UnreadableNode {
  readonly kind: "unreadable";
  /** The source text of the type. */
  readonly text: string;
}

/** Only in return types: an async iterable or generator of items, or a web `Response`. */
export interface StreamNode {
  readonly kind: "stream";
  readonly items: TypeNode;
}
export interface ResponseNode {
  readonly kind: "response";
}
/** Only in return types: `Problem<404, { code: string }>`, which is sent as problem details. */
export interface ProblemNode {
  readonly kind: "problem";
  /** Absent for any status. */
  readonly status?: number;
  /** The members besides those of RFC 9457. */
  readonly members?: TypeNode;
}

export type TypeNode =
  | ScalarNode
  | LiteralNode
  | TemporalNode
  | UnionNode
  | ArrayNode
  | TupleNode
  | ObjectNode
  | ReferenceNode
  | UnreadableNode
  | StreamNode
  | ResponseNode
  | ProblemNode;

/**
 * - `positional`: the next path segment fills it, or its name does
 * - `keywords`: the one object that takes the keyword arguments
 * - `rest`: takes the remaining path segments. `type` is the type of one segment
 */
export type ParameterRole = "positional" | "keywords" | "rest";

/** The name of a destructuring pattern, which has no name in the source. */
export const PATTERN_NAME = "keywords";

export interface Parameter {
  readonly role: ParameterRole;
  /** The parameter's own name. {@link PATTERN_NAME} for a destructuring pattern. */
  readonly name: string;
  readonly type: TypeNode;
  readonly optional: boolean;
  readonly default?: JsonLiteral;
  readonly description?: string;
  /** The values of `@example`. */
  readonly examples?: readonly JsonLiteral[];
  readonly deprecated?: true;
  readonly location: SourceLocation;
}

/** A method's signature. Plain JSON, so that a manifest can contain it. */
export interface MethodSignature {
  readonly verb: string;
  /**
   * In the order of the arguments. At most one has the role `keywords`. It is the last one, or precedes the `rest`
   * parameter.
   */
  readonly parameters: readonly Parameter[];
  /** The written or inferred return type without its `Promise`. Absent if neither is known. */
  readonly returns?: TypeNode;
  /** The return type is not written: the compiler has inferred it. It only documents the answer. */
  readonly inferred?: true;
  /** Success statuses, if the method sets a literal status. "default" is 200, or 204 without a body. */
  readonly statuses?: readonly (number | "default")[];
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly location: SourceLocation;
  /** The types that contain themselves, by the name that their references use. */
  readonly definitions: Definitions;
}
