/**
 * A node of a YAML document, with its offset. An alias refers to the anchored node itself, so a node may occur in several
 * places (never inside itself). Code that walks the tree must bound the walk.
 */
export type YamlNode = YamlScalar | YamlSequence | YamlMapping;

export interface YamlScalar {
  readonly kind: "scalar";
  readonly offset: number;
  /** The text with escapes and folding resolved. `1.1`, `true` and `010` are not interpreted. */
  readonly text: string;
  /** Whether the scalar is neither quoted nor a block scalar: it may be null, a boolean or a number. */
  readonly plain: boolean;
}

export interface YamlSequence {
  readonly kind: "sequence";
  readonly offset: number;
  readonly items: readonly YamlNode[];
}

export interface YamlMapping {
  readonly kind: "mapping";
  readonly offset: number;
  /** The pairs in the order of the file, with duplicates and unresolved merge keys. */
  readonly pairs: { readonly key: YamlNode; readonly value: YamlNode }[];
}
