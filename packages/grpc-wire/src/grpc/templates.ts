import { Flag, FrameType } from "../frames/constants.ts";
import { frame } from "../frames/write.ts";
import { encodeHeaders } from "../hpack/encoder.ts";

/** The trailers of a call that went well: a whole HEADERS frame; the stream id is patched in. */
export const OK_TRAILERS = frame(
  FrameType.HEADERS,
  Flag.END_HEADERS | Flag.END_STREAM,
  0,
  encodeHeaders([["grpc-status", "0"]]),
);

/** The response headers of a call without metadata of its own: a whole HEADERS frame. */
export function responseHeadersTemplate(contentType: string): Uint8Array {
  return frame(
    FrameType.HEADERS,
    Flag.END_HEADERS,
    0,
    encodeHeaders([
      [":status", "200"],
      ["content-type", contentType],
    ]),
  );
}
