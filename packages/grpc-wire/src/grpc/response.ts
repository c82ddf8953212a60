/** Header blocks of responses (grpc/doc/PROTOCOL-HTTP2.md, "Responses"). */
import { encodeHeaders } from "../hpack/encoder.ts";
import type { StatusCode } from "../status.ts";
import { type CallHead, Encoding } from "./call-head.ts";
import type { GrpcDependencies } from "./context.ts";
import { encodeStatusMessage } from "./metadata.ts";

type Fields = [name: string, value: string][];

/** Metadata that a handler added to its response. */
export interface ResponseMetadata {
  readonly initial: Fields;
  readonly trailing: Fields;
}

/** Whether the call may compress its response messages. If so, the response's headers contain `grpc-encoding`. */
export function wantsGzip({ acceptsGzip, encoding }: CallHead, deps: GrpcDependencies): boolean {
  if (!acceptsGzip) return false;
  const when = deps.responseCompression;
  return when === "accepted" || (when === "mirror" && encoding === Encoding.GZIP);
}

export function headersBlock(
  head: CallHead,
  deps: GrpcDependencies,
  metadata: ResponseMetadata | undefined,
): Uint8Array {
  const fields = statusFields(head, deps);
  if (wantsGzip(head, deps)) fields.push(["grpc-encoding", "gzip"]);
  if (metadata !== undefined) fields.push(...metadata.initial);
  return encodeHeaders(fields);
}

/** @param isAlone a Trailers-Only response: the trailers also contain the fields of the headers */
export function trailersBlock(
  head: CallHead,
  deps: GrpcDependencies,
  metadata: ResponseMetadata | undefined,
  isAlone: boolean,
  code: StatusCode,
  message: string,
): Uint8Array {
  const fields = isAlone ? statusFields(head, deps) : [];
  if (isAlone && metadata !== undefined) fields.push(...metadata.initial);
  fields.push(["grpc-status", String(code)]);
  if (message !== "") fields.push(["grpc-message", encodeStatusMessage(message)]);
  if (head.encoding === Encoding.UNSUPPORTED) fields.push(["grpc-accept-encoding", "identity,gzip"]);
  if (metadata !== undefined) fields.push(...metadata.trailing);
  return encodeHeaders(fields);
}

function statusFields({ subtype }: CallHead, { contentTypes }: GrpcDependencies): Fields {
  return [
    [":status", "200"],
    ["content-type", contentTypes[subtype]!],
  ];
}
