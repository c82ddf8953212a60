/**
 * The facts about methods that the client needs at run time, when types do not exist. `waymark types --table=FILE` writes
 * them.
 */
export interface Table {
  /** The version of the format. */
  readonly version: 1;
  /** The places of dates in types that contain themselves. */
  readonly types: { readonly [name: string]: DatePlan };
  /** The methods that need more than the general rule. */
  readonly routes: RouteTable;
}

/** Submodules and classes by property, methods by verb. */
export interface RouteTable {
  readonly [name: string]: RouteTable | MethodEntry;
}

/** A method that needs more than the general rule. */
export interface MethodEntry {
  /** The parameters in order: a name, `{}` for the keyword arguments, `...` for the rest of the path. */
  readonly args: readonly string[];
  /** Properties beside this method. A first argument with such a text would select the class instead. */
  readonly taken?: readonly string[];
  /** The places of dates in the answer, or "unknown". Absent: the answer has no dates. */
  readonly dates?: DatePlan | "unknown";
  /** Whether the answer is a stream of text or bytes. */
  readonly raw?: boolean;
}

/** The places of dates in a value: the value itself, each item or value, by property, or as in a named type. */
export type DatePlan =
  | 1
  | { readonly each: DatePlan }
  | { readonly in: { readonly [property: string]: DatePlan }; readonly each?: DatePlan }
  | { readonly type: string }
  /** The members of a union with several plans. */
  | { readonly any: readonly DatePlan[] };
