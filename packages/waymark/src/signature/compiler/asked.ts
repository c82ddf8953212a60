import type { Node } from "oxc-parser";
import type { Scope } from "../source/scope.ts";

/** The node for which the compiler is asked. Errors name its place. */
export interface Asked {
  readonly node: Node;
  readonly scope: Scope;
}
