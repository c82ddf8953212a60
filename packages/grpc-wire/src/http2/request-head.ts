import { FieldKind, type HeaderField } from "../hpack/field.ts";

/** A request's header section. */
export interface RequestHead {
  readonly fields: readonly HeaderField[];
  readonly method: string;
  readonly path: string;
  /** -1 without content-length. */
  readonly contentLength: number;
  /** The reason why the request is malformed (RFC 9113 section 8.1.1); empty for a well-formed request. */
  readonly fault: string;
  /** The header list exceeded the limit, and `fields` is incomplete. */
  readonly isTooLarge: boolean;
}

/** The required pseudo-header fields, one bit each: RFC 9113 section 8.3.1, and 8.5 for CONNECT. */
const REQUEST_FIELDS = (1 << FieldKind.METHOD) | (1 << FieldKind.SCHEME) | (1 << FieldKind.PATH);
const CONNECT_FIELDS = (1 << FieldKind.METHOD) | (1 << FieldKind.AUTHORITY);

/** Reads and checks a request's fields (RFC 9113 sections 8.2 and 8.3). */
export function readHead(fields: readonly HeaderField[], isTooLarge: boolean): RequestHead {
  let method = "";
  let path = "";
  let contentLength = -1;
  /** One bit for each pseudo-header field so far. */
  let pseudo = 0;
  let regular = false;
  let fault = "";
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index]!;
    const kind = field.kind;
    if (!field.valid)
      fault = `the field ${JSON.stringify(field.name)} has a name or value that HTTP/2 forbids`;
    if (kind >= FieldKind.METHOD && kind <= FieldKind.OTHER_PSEUDO) {
      if (regular) fault = `the pseudo-header field ${field.name} follows a regular field`;
      if (kind === FieldKind.OTHER_PSEUDO)
        fault = `the pseudo-header field ${field.name} is not allowed in a request`;
      if (pseudo & (1 << kind)) fault = `the pseudo-header field ${field.name} occurs twice`;
      pseudo |= 1 << kind;
      if (kind === FieldKind.METHOD) method = field.value;
      else if (kind === FieldKind.PATH) path = field.value;
      continue;
    }
    regular = true;
    switch (kind) {
      case FieldKind.TE:
        if (field.value !== "trailers") fault = `the value of te is not "trailers"`;
        break;
      case FieldKind.CONTENT_LENGTH:
        if (!/^\d{1,15}$/.test(field.value)) fault = "content-length is not a number";
        else if (contentLength >= 0 && contentLength !== Number(field.value))
          fault = "two content-length fields differ";
        else contentLength = Number(field.value);
        break;
      case FieldKind.CONNECTION_SPECIFIC:
        fault = `HTTP/2 forbids the connection-specific field ${field.name}`;
        break;
    }
  }
  if (method === "CONNECT") {
    if (pseudo !== CONNECT_FIELDS) fault = "CONNECT requires :authority, and forbids :scheme and :path";
  } else if ((pseudo & REQUEST_FIELDS) !== REQUEST_FIELDS)
    fault = "a request requires :method, :scheme and :path";
  else if (path === "") fault = ":path is empty";
  return { fields, method, path, contentLength, fault, isTooLarge };
}

/** Whether all fields are allowed in a trailer section: it has no pseudo-header fields (RFC 9113 section 8.1). */
export function areValidTrailers(fields: readonly HeaderField[]): boolean {
  return fields.every(
    ({ kind, valid }) =>
      valid &&
      (kind === FieldKind.OTHER || kind > FieldKind.OTHER_PSEUDO) &&
      kind !== FieldKind.CONNECTION_SPECIFIC,
  );
}
