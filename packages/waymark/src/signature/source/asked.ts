import type { Node } from "oxc-parser";
import type { Scope } from "./scope.ts";

/** The node for which the compiler is asked. Errors name its place. */
export interface Asked {
  readonly node: Node;
  readonly scope: Scope;
}

/** A parameter for which the compiler is asked. */
export interface AskedParameter extends Asked {
  /** Its position, without a `this` parameter. */
  readonly index: number;
}
