/** A file of a multipart body, wholly read. A binder makes the `File`, `Blob` or `Uint8Array` that the method asks for. */
export interface UploadedFile {
  readonly filename: string;
  /** Its media type. Empty if the client named none. */
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export type FieldValue = string | UploadedFile;

/** A form's fields in the order of the body. Names may repeat. */
export type FormFields = readonly (readonly [name: string, value: FieldValue])[];

export type BodyInput =
  | { readonly kind: "form"; readonly fields: FormFields }
  | {
      readonly kind: "json";
      readonly value: unknown;
      /** The document's bytes. They show whether a number is a plain integer or has an exponent. */
      readonly source?: Uint8Array;
    };

/** The parts of a request that fill a method's arguments. */
export interface BindInput {
  /** The path segments behind module and class, each percent-decoded. */
  readonly segments: readonly string[];
  /** The raw query without its `?`. Empty if there is no query. */
  readonly query: string;
  /** Absent if the request has no body, or one whose media type gives no arguments. */
  readonly body?: BodyInput | undefined;
}
