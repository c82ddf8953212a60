import type { Definitions, TypeNode } from "../model/signature.ts";
import type { Converter } from "./converter.ts";
import type { JsonNumbers } from "./json-numbers.ts";
import type { Outcomes } from "./outcomes.ts";

/** What compiling the types of one signature needs. */
export interface CompileContext {
  readonly definitions: Definitions;
  /** What becomes of names that an object type does not have: a fault, or nothing. */
  readonly unknownKeywords: "reject" | "ignore";
  readonly compile: (type: TypeNode) => Converter;
  readonly numbers: JsonNumbers;
  readonly outcomes: Outcomes;
}
