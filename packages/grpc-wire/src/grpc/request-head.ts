import { FieldKind, type HeaderField } from "../hpack/field.ts";
import { parseTimeout } from "./timeout.ts";

/** What a message's compressed flag may mean for one call. */
export const Encoding = { IDENTITY: 0, GZIP: 1, UNSUPPORTED: 2 } as const;

/** What a header list turned out to be. */
export const HeadKind = {
  /** A gRPC call. */
  CALL: 0,
  /** Well-formed HTTP that is no gRPC call: 415. */
  NOT_GRPC: 1,
  /** A stream error PROTOCOL_ERROR (RFC 9113 section 8.1.1). */
  MALFORMED: 2,
} as const;

/** A request's header list, read once; calls with equal header blocks may share one. */
export interface RequestHead {
  kind: number;
  /** What is wrong with a malformed one. */
  fault: string;
  fields: readonly HeaderField[];
  method: string;
  path: string;
  contentType: string;
  /** Index into the server's content types: 0 is plain `application/grpc`; -1 for another. */
  subtype: number;
  /** Milliseconds; -1 none, -2 malformed. */
  timeoutMs: number;
  encoding: number;
  acceptsGzip: boolean;
  /** -1 where the request names none. */
  contentLength: number;
}

const PLAIN = "application/grpc";

/** The pseudo-headers that must be there, a bit each: RFC 9113 section 8.3.1, and 8.5 for CONNECT. */
const REQUEST_FIELDS = (1 << FieldKind.METHOD) | (1 << FieldKind.SCHEME) | (1 << FieldKind.PATH);
const CONNECT_FIELDS = (1 << FieldKind.METHOD) | (1 << FieldKind.AUTHORITY);

/** The index of a request's content type: 0 for plain, 1.. for `subtypes`, -1 for anything else. */
function subtypeOf(value: string, subtypes: readonly string[]): number {
  if (value === PLAIN) return 0;
  const lower = value.toLowerCase();
  const bare = lower.split(";", 1)[0]!.trim();
  if (bare === PLAIN) return 0;
  return bare.startsWith(`${PLAIN}+`) ? subtypes.indexOf(bare.slice(PLAIN.length + 1)) + 1 || -1 : -1;
}

function encodingOf(value: string): number {
  if (value === "identity") return Encoding.IDENTITY;
  return value === "gzip" ? Encoding.GZIP : Encoding.UNSUPPORTED;
}

/** Reads a request's fields. Rules: RFC 9113 sections 8.2 and 8.3, grpc/doc/PROTOCOL-HTTP2.md "Requests". */
export function readHead(fields: readonly HeaderField[], subtypes: readonly string[]): RequestHead {
  const head: RequestHead = {
    kind: HeadKind.CALL,
    fault: "",
    fields,
    method: "",
    path: "",
    contentType: "",
    subtype: -1,
    timeoutMs: -1,
    encoding: Encoding.IDENTITY,
    acceptsGzip: false,
    contentLength: -1,
  };
  /** One bit per pseudo-header seen. */
  let pseudo = 0;
  let regular = false;
  let fault = "";
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index]!;
    const kind = field.kind;
    if (!field.valid)
      fault = `the field ${JSON.stringify(field.name)} has a name or value that may not travel`;
    if (kind >= FieldKind.METHOD && kind <= FieldKind.OTHER_PSEUDO) {
      if (regular) fault = `the pseudo-header ${field.name} follows a regular field`;
      if (kind === FieldKind.OTHER_PSEUDO) fault = `the pseudo-header ${field.name} is none of a request`;
      if (pseudo & (1 << kind)) fault = `the pseudo-header ${field.name} is there twice`;
      pseudo |= 1 << kind;
      if (kind === FieldKind.METHOD) head.method = field.value;
      else if (kind === FieldKind.PATH) head.path = field.value;
      continue;
    }
    regular = true;
    switch (kind) {
      case FieldKind.OTHER:
        break;
      case FieldKind.CONTENT_TYPE:
        head.contentType = field.value;
        head.subtype = subtypeOf(field.value, subtypes);
        break;
      case FieldKind.TE:
        if (field.value !== "trailers") fault = `te may only be "trailers"`;
        break;
      case FieldKind.CONTENT_LENGTH:
        if (!/^\d{1,15}$/.test(field.value)) fault = "content-length is no number";
        else if (head.contentLength >= 0 && head.contentLength !== Number(field.value))
          fault = "content-length is there twice";
        else head.contentLength = Number(field.value);
        break;
      case FieldKind.GRPC_TIMEOUT: {
        const timeout = parseTimeout(field.value);
        head.timeoutMs = timeout < 0 ? -2 : timeout;
        break;
      }
      case FieldKind.GRPC_ENCODING:
        head.encoding = encodingOf(field.value);
        break;
      case FieldKind.GRPC_ACCEPT_ENCODING:
        head.acceptsGzip = /(?:^|[,\s])gzip(?:$|[,\s])/.test(field.value);
        break;
      case FieldKind.CONNECTION_SPECIFIC:
        fault = `the field ${field.name} has no meaning in HTTP/2`;
        break;
    }
  }
  if (head.method === "CONNECT") {
    if (pseudo !== CONNECT_FIELDS) fault = "CONNECT takes :authority, and neither :scheme nor :path";
  } else if ((pseudo & REQUEST_FIELDS) !== REQUEST_FIELDS)
    fault = ":method, :scheme and :path must all be there";
  else if (head.path === "") fault = ":path is empty";
  if (fault !== "") {
    head.kind = HeadKind.MALFORMED;
    head.fault = fault;
  } else if (head.method !== "POST" || head.subtype < 0) {
    head.kind = HeadKind.NOT_GRPC;
  }
  return head;
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
