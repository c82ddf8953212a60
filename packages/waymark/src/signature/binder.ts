import type { BindFaults } from "./faults.ts";
import type { MethodSignature } from "./model.ts";
import type { SchemaTable } from "./schema.ts";

/** A file of a multipart body, wholly read. A binder makes the `File`, `Blob` or `Uint8Array` that the method asks for. */
export interface UploadedFile {
  readonly filename: string;
  /** Its media type; empty where the client named none. */
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A form's fields in the order in which they came, names repeated as they came. */
export type FormFields = readonly (readonly [name: string, value: string | UploadedFile])[];

export type BodyInput =
  | { readonly kind: "form"; readonly fields: FormFields }
  | { readonly kind: "json"; readonly value: unknown };

export interface BindInput {
  /** The path segments behind module and class, each percent-decoded. */
  readonly segments: readonly string[];
  /** The raw query without its `?`; empty where there is none. */
  readonly query: string;
  /** Absent where no body came, or one whose media type gives no arguments. */
  readonly body?: BodyInput | undefined;
}

export type BindResult = unknown[] | BindFaults;

export interface Binder {
  /** How many segments fill every required parameter. Fewer may do, where a keyword fills one by name: see {@link Binder.missing}. */
  readonly minimum: number;
  /** How many segments fit; Infinity with a rest parameter. More is 404. */
  readonly maximum: number;
  /** False for a method without parameters: it gets any body unread. */
  readonly readsBody: boolean;
  /** The name of the parameter that the n-th segment (from 0) fills. */
  parameterName(index: number): string | undefined;
  /**
   * The first required parameter that neither the segments nor the query fill, nor a body can fill
   * (`bodyComes`): the reason of a 404 that needs no body read. Needs asking only below `minimum`.
   */
  missing(segmentCount: number, query: string, bodyComes: boolean): string | undefined;
  /** The arguments of the call, in order, or everything that is wrong. A promise only where a schema is asynchronous. */
  bind(input: BindInput): BindResult | Promise<BindResult>;
}

export interface BinderOptions {
  /** What to do with a keyword that the signature does not name. Default "reject" (400). */
  readonly unknownKeywords?: "reject" | "ignore";
  /** What the class's `static schema` has for this verb. */
  readonly schemas?: SchemaTable | undefined;
}

export const compileBinder = (_signature: MethodSignature, _options: BinderOptions = {}): Binder => {
  throw new Error("being written");
};
