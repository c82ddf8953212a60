import { HttpError } from "./http-error.ts";

/** A file of a form, completely read. */
export interface FormFile {
  readonly filename: string;
  /** Its media type. Empty if the client sent none. */
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export type FormField = readonly [name: string, value: string | FormFile];

/** Bounds the work that one request can cause. Real forms have fewer fields. */
export const MAX_FIELDS = 1_000;

/** One to seventy characters (RFC 2046 section 5.1.1). */
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i;

/** The boundary of a form's parts. Throws 400 without one. */
export function boundaryOf(contentType: string): string {
  const found = BOUNDARY.exec(contentType);
  if (found === null) throw malformed("the content type has no boundary of 1 to 70 characters");
  return (found[1] ?? found[2])!;
}

export function malformed(reason: string): HttpError {
  return new HttpError(400, `malformed multipart body: ${reason}`);
}
