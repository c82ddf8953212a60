/** A file of a multipart body, completely read. A binder converts it to the method's `File`, `Blob` or `Uint8Array`. */
export interface UploadedFile {
  readonly filename: string;
  /** Its media type. Empty if the client sent none. */
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export type FieldValue = string | UploadedFile;

/** A form's fields in the order of the body. Names may repeat. */
export type FormFields = readonly (readonly [name: string, value: FieldValue])[];

export type BodyInput =
  | { readonly kind: "form"; readonly fields: FormFields; readonly isWhole?: false }
  | {
      readonly kind: "json";
      readonly value: unknown;
      /** The document's bytes. They show whether a number is a plain integer or has an exponent. */
      readonly source?: Uint8Array;
      /** The value becomes the keyword object unchanged: the binder's `countMembers` has counted it. Only without a query. */
      readonly isWhole?: boolean;
    };

/** The parts of a request that fill a method's arguments. */
export interface BindInput {
  /** The path segments after module and class, each percent-decoded. */
  readonly segments: readonly string[];
  /** The raw query without its `?`. Empty if there is no query. */
  readonly query: string;
  /** Absent if the request has no body, or a body whose media type gives no arguments. */
  readonly body?: BodyInput | undefined;
}
