/** A place in a source file; `line` and `column` count from 1, as editors show them. */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** What JSDoc tags add to a type; the names are those of JSON Schema. */
export interface Refinements {
  readonly minimum?: number;
  readonly maximum?: number;
  /** Its `type` is `integer`. */
  readonly integer?: true;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
}

export interface PropertyNode {
  readonly name: string;
  readonly type: TypeNode;
  /** Marked with `?`, allowed to be undefined, or given a default in the destructuring pattern. */
  readonly optional: boolean;
  readonly description?: string;
  /** The default literal, where the source has one that JSON can carry. */
  readonly default?: JsonLiteral;
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

/** Kinds that have neither parts nor parameters. `untyped` is a name without a type: text in a URL, anything in JSON. */
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
  | "untyped"
  | "file"
  | "blob"
  | "bytes"
  | "never";

export interface ScalarNode {
  readonly kind: ScalarKind;
  readonly refinements?: Refinements;
}

export interface LiteralNode {
  readonly kind: "literal";
  /** A bigint literal is carried as `{ bigint: digits }`, so that a signature stays JSON. */
  readonly value: string | number | boolean | { readonly bigint: string };
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

export interface ObjectNode {
  readonly kind: "object";
  /** The name that the source gives it, for documents. */
  readonly name?: string;
  readonly properties: readonly PropertyNode[];
  /** The type of the values under any other name: an index signature, `Record<string, T>`, a rest element. */
  readonly index?: TypeNode;
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

/** A type that could not be read. Allowed where a schema stands in for it, or as "raw" with a warning. */
export interface UnreadableNode {
  readonly kind: "unreadable";
  /** The type as written. */
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

export type TypeNode =
  | ScalarNode
  | LiteralNode
  | UnionNode
  | ArrayNode
  | TupleNode
  | ObjectNode
  | ReferenceNode
  | UnreadableNode
  | StreamNode
  | ResponseNode;

/**
 * - `positional`: filled by the next path segment, or by its name
 * - `keywords`: the one object that takes the keyword arguments
 * - `rest`: takes the remaining path segments; `type` is that of one segment
 */
export type ParameterRole = "positional" | "keywords" | "rest";

/** What a destructuring pattern is called, which has no name of its own. */
export const PATTERN_NAME = "keywords";

export interface Parameter {
  readonly role: ParameterRole;
  /** The parameter's own name; {@link PATTERN_NAME} for a destructuring pattern. */
  readonly name: string;
  readonly type: TypeNode;
  readonly optional: boolean;
  readonly default?: JsonLiteral;
  readonly description?: string;
  readonly location: SourceLocation;
}

/** What a method says of itself. Plain JSON: a manifest carries it as it is. */
export interface MethodSignature {
  readonly verb: string;
  /** In the order of the arguments. At most one of role `keywords`, last or before the one of role `rest`. */
  readonly parameters: readonly Parameter[];
  /** As written, without its `Promise`; absent where nothing is written. */
  readonly returns?: TypeNode;
  /** Success statuses, if the method sets one to a literal. "default" is 200, or 204 without a body. */
  readonly statuses?: readonly (number | "default")[];
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly location: SourceLocation;
  /** The types that contain themselves, by the name that their references use. */
  readonly definitions: Definitions;
}
