/** Header blocks of responses (grpc/doc/PROTOCOL-HTTP2.md, "Responses"). */
import { encodeHeaders } from "../hpack/encoder.ts";
import type { StatusCode } from "../status.ts";
import { type CallHead, Encoding } from "./call-head.ts";
import type { GrpcDependencies } from "./context.ts";
import { encodeStatusMessage } from "./metadata.ts";

type Fields = [name: string, value: string][];

/** Metadata that a handler added to its answer. */
export interface ResponseMetadata {
  readonly initial: Fields;
  readonly trailing: Fields;
}

/** Whether answers of this call may be gzipped: the response's headers must say so. */
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

/** `isAlone`: no headers were sent, so the trailers hold what they would have held. */
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
