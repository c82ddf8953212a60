/** Responses to HTTP requests that are not gRPC calls. */
import { ErrorCode } from "../frames/constants.ts";
import { encodeHeaders } from "../hpack/encoder.ts";
import type { ServerStream, StreamEvents } from "../http2/interface.ts";
import type { RequestHead } from "../http2/request-head.ts";

/** The server responds when the request has ended, or when its body exceeds this size. */
const MAX_BODY_BYTES = 64 * 1024;

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

/** Responds with 415, or with 431 when the headers are too large. */
export class HttpRefusal implements StreamEvents {
  readonly #stream: ServerStream;
  readonly #request: RequestHead;
  readonly #requestTimeoutMs: number;
  #bodyBytes = 0;
  #isAnswered = false;

  constructor(stream: ServerStream, request: RequestHead, requestTimeoutMs: number) {
    this.#stream = stream;
    this.#request = request;
    this.#requestTimeoutMs = requestTimeoutMs;
    stream.attach(this);
  }

  onData(_bytes: Buffer, start: number, end: number, ended: boolean): void {
    this.#bodyBytes += end - start;
    if (ended || this.#bodyBytes > MAX_BODY_BYTES) this.onEnd();
    else this.#stream.returnWindow();
  }

  onEnd(): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    const stream = this.#stream;
    if (this.#request.isTooLarge) stream.sendHeaders(tooLargeHeaders, true);
    else if (this.#request.method === "HEAD") stream.sendHeaders(notGrpcHeaders, true);
    else {
      stream.sendHeaders(notGrpcHeaders, false);
      stream.sendLastData(notGrpcText);
    }
  }

  onReset(): void {}

  onSweep(now: number): void {
    const limit = this.#requestTimeoutMs;
    if (limit > 0 && now - this.#stream.received.monotonic >= limit) this.#stream.reset(ErrorCode.CANCEL);
  }
}
