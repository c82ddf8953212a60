import type { Definitions, TypeNode } from "../model/signature.ts";
import type { Converter } from "./converter.ts";
import type { JsonNumbers } from "./json-numbers.ts";
import type { Outcomes } from "./outcomes.ts";

/** The context in which the types of one signature are compiled. */
export interface CompileContext {
  readonly definitions: Definitions;
  /** Treatment of names that an object type does not declare: `reject` reports a fault. */
  readonly unknownKeywords: "reject" | "ignore";
  readonly compile: (type: TypeNode) => Converter;
  readonly numbers: JsonNumbers;
  readonly outcomes: Outcomes;
}
