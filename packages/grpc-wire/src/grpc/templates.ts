import { Flag, FrameType } from "../frames/constants.ts";
import { frame } from "../frames/write.ts";
import { encodeHeaders } from "../hpack/encoder.ts";

/** The trailers of a successful call, as a whole HEADERS frame for stream 0. */
export const OK_TRAILERS = frame(
  FrameType.HEADERS,
  Flag.END_HEADERS | Flag.END_STREAM,
  0,
  encodeHeaders([["grpc-status", "0"]]),
);

/** Returns the response headers of a call without response metadata, as a whole HEADERS frame for stream 0. */
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
