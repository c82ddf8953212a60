import { FieldKind, type HeaderField } from "../hpack/field.ts";

/** A request's header list, read once. Requests with equal header blocks may share one. */
export interface RequestHead {
  readonly fields: readonly HeaderField[];
  readonly method: string;
  readonly path: string;
  /** -1 when the request names none. */
  readonly contentLength: number;
  /** Why the request is malformed (RFC 9113 section 8.1.1); empty for one that is well-formed. */
  readonly fault: string;
  /** The header list was larger than the limit, and `fields` lacks some of it. */
  readonly isTooLarge: boolean;
  /** What the layer above has read from the fields. It is kept here, so that a recognised block is read only once. */
  extension: unknown;
}

/** The pseudo-headers that must be there, a bit each: RFC 9113 section 8.3.1, and 8.5 for CONNECT. */
const REQUEST_FIELDS = (1 << FieldKind.METHOD) | (1 << FieldKind.SCHEME) | (1 << FieldKind.PATH);
const CONNECT_FIELDS = (1 << FieldKind.METHOD) | (1 << FieldKind.AUTHORITY);

/** Reads a request's fields. Rules: RFC 9113 sections 8.2 and 8.3. */
export function readHead(fields: readonly HeaderField[], isTooLarge: boolean): RequestHead {
  let method = "";
  let path = "";
  let contentLength = -1;
  /** One bit for each pseudo-header seen. */
  let pseudo = 0;
  let regular = false;
  let fault = "";
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index]!;
    const kind = field.kind;
    if (!field.valid)
      fault = `the field ${JSON.stringify(field.name)} has a name or value that HTTP/2 forbids`;
    if (kind >= FieldKind.METHOD && kind <= FieldKind.OTHER_PSEUDO) {
      if (regular) fault = `the pseudo-header ${field.name} follows a regular field`;
      if (kind === FieldKind.OTHER_PSEUDO)
        fault = `the pseudo-header ${field.name} does not belong in a request`;
      if (pseudo & (1 << kind)) fault = `the pseudo-header ${field.name} is there twice`;
      pseudo |= 1 << kind;
      if (kind === FieldKind.METHOD) method = field.value;
      else if (kind === FieldKind.PATH) path = field.value;
      continue;
    }
    regular = true;
    switch (kind) {
      case FieldKind.TE:
        if (field.value !== "trailers") fault = `te may only be "trailers"`;
        break;
      case FieldKind.CONTENT_LENGTH:
        if (!/^\d{1,15}$/.test(field.value)) fault = "content-length is not a number";
        else if (contentLength >= 0 && contentLength !== Number(field.value))
          fault = "content-length is there twice";
        else contentLength = Number(field.value);
        break;
      case FieldKind.CONNECTION_SPECIFIC:
        fault = `the field ${field.name} has no meaning in HTTP/2`;
        break;
    }
  }
  if (method === "CONNECT") {
    if (pseudo !== CONNECT_FIELDS) fault = "CONNECT takes :authority, and neither :scheme nor :path";
  } else if ((pseudo & REQUEST_FIELDS) !== REQUEST_FIELDS)
    fault = ":method, :scheme and :path must all be there";
  else if (path === "") fault = ":path is empty";
  return { fields, method, path, contentLength, fault, isTooLarge, extension: undefined };
}

/** Whether a trailer section may end a request: regular fields only (RFC 9113 section 8.1). */
export function areValidTrailers(fields: readonly HeaderField[]): boolean {
  return fields.every(
    ({ kind, valid }) =>
      valid &&
      (kind === FieldKind.OTHER || kind > FieldKind.OTHER_PSEUDO) &&
      kind !== FieldKind.CONNECTION_SPECIFIC,
  );
}
