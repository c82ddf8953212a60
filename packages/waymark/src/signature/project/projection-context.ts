import type { Definitions, TypeNode } from "../model/signature.ts";

/** Returns a value without the properties that its type does not declare. Never changes the value itself. */
export type Projection = (value: unknown) => unknown;

/** The context that the projections of one method share. */
export interface ProjectionContext {
  readonly definitions: Definitions;
  /** Undefined for a type whose values are sent as they are. */
  project(type: TypeNode): Projection | undefined;
}
