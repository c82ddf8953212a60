/** What requests are told that are well-formed HTTP, but no gRPC calls. */
import { encodeHeaders } from "../hpack/encoder.ts";
import { closeLocal, writeHeaderBlock } from "./responses.ts";
import type { Stream } from "./stream.ts";

const tooLargeHeaders = encodeHeaders([
  [":status", "431"],
  ["content-length", "0"],
]);
const notGrpcText = Buffer.from("This server speaks gRPC: POST with content-type application/grpc.\n");
const notGrpcHeaders = encodeHeaders([
  [":status", "415"],
  ["content-type", "text/plain; charset=utf-8"],
  ["content-length", String(notGrpcText.length)],
]);

/** 415, its text as far as the peer's window goes. */
export function answerHttp(stream: Stream): void {
  const { connection, head } = stream;
  stream.finished = true;
  if (stream.isTooLarge) {
    endPlain(stream, tooLargeHeaders);
    return;
  }
  if (head.method === "HEAD") {
    endPlain(stream, notGrpcHeaders);
    return;
  }
  writeHeaderBlock(connection, stream.id, notGrpcHeaders, false);
  connection.sendPlain(stream, notGrpcText);
}

function endPlain(stream: Stream, block: Uint8Array): void {
  writeHeaderBlock(stream.connection, stream.id, block, true);
  closeLocal(stream);
}
