import { FieldKind, type HeaderField, registerFieldName } from "../hpack/field.ts";
import type { RequestHead } from "../http2/request-head.ts";
import type { GrpcDependencies } from "./context.ts";
import type { Route } from "./route.ts";
import { parseTimeout } from "./timeout.ts";

/** The message encodings of a request: the encoding of messages with the compressed flag. */
export const Encoding = { IDENTITY: 0, GZIP: 1, UNSUPPORTED: 2 } as const;

/** The gRPC fields of a request's headers. */
export interface CallHead {
  readonly fields: readonly HeaderField[];
  /** False for well-formed HTTP that is not a gRPC call. */
  readonly isCall: boolean;
  /** Index into the server's content types: 0 for plain `application/grpc`, -1 for an unsupported type. */
  readonly subtype: number;
  /** Milliseconds; -1 without a time-out, -2 for a malformed one. */
  readonly timeoutMs: number;
  readonly encoding: number;
  readonly acceptsGzip: boolean;
  /** The method; undefined for an unknown one. */
  readonly route: Route | undefined;
}

const TIMEOUT = registerFieldName("grpc-timeout");
const ENCODING = registerFieldName("grpc-encoding");
const ACCEPT_ENCODING = registerFieldName("grpc-accept-encoding");

const PLAIN = "application/grpc";

/** Returns the index of a request's content type: 0 for plain, from 1 on for `subtypes`, -1 for any other type. */
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

/** Returns the gRPC fields of a request (grpc/doc/PROTOCOL-HTTP2.md, "Requests"). */
export function callHeadOf(
  { method, path, fields }: RequestHead,
  { subtypes, routes }: Pick<GrpcDependencies, "subtypes" | "routes">,
): CallHead {
  let subtype = -1;
  let timeoutMs = -1;
  let encoding: number = Encoding.IDENTITY;
  let acceptsGzip = false;
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index]!;
    switch (field.kind) {
      case FieldKind.OTHER:
        break;
      case FieldKind.CONTENT_TYPE:
        subtype = subtypeOf(field.value, subtypes);
        break;
      case TIMEOUT: {
        const timeout = parseTimeout(field.value);
        timeoutMs = timeout < 0 ? -2 : timeout;
        break;
      }
      case ENCODING:
        encoding = encodingOf(field.value);
        break;
      case ACCEPT_ENCODING:
        acceptsGzip = /(?:^|[,\s])gzip(?:$|[,\s])/.test(field.value);
        break;
    }
  }
  return {
    fields,
    isCall: method === "POST" && subtype >= 0,
    subtype,
    timeoutMs,
    encoding,
    acceptsGzip,
    route: routes.get(path),
  };
}
