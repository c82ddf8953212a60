/** From a header block to a call, and from DATA to its message. */

import { ErrorCode, Flag, FRAME_HEADER_BYTES, FrameType } from "../frames/constants.ts";
import { readUint32 } from "../frames/write.ts";
import { areValidTrailers, Encoding, HeadKind, type RequestHead } from "../grpc/request-head.ts";
import { GrpcError, Status } from "../grpc/status.ts";
import type { HeaderField } from "../hpack/field.ts";
import type { Connection } from "./connection.ts";
import { finishWithError } from "./failing.ts";
import type { Host, Route } from "./host.ts";
import { Inbound } from "./inbound.ts";
import { invoke, invokeInflated, invokeUnary, pending, runStreaming } from "./invoke.ts";
import { answerHttp } from "./plain-http.ts";
import { finishWithStatus } from "./responses.ts";
import { Stream } from "./stream.ts";

const PREFIX_BYTES = 5;
/** Well-formed HTTP that is no gRPC call is answered when it has ended, or when this much of it has come. */
const PATIENCE_BYTES = 64 * 1024;

/** A new stream's headers. */
export function openRequest(connection: Connection, id: number, head: RequestHead, ended: boolean): void {
  const { host } = connection;
  if (head.kind === HeadKind.MALFORMED || (ended && head.contentLength > 0)) {
    connection.resetStream(id, ErrorCode.PROTOCOL_ERROR);
    return;
  }
  if (connection.runningCalls >= host.limits.maxConcurrentStreams) {
    connection.resetStream(id, ErrorCode.REFUSED_STREAM);
    return;
  }
  if (connection.isQueueFull()) {
    connection.resetStream(id, ErrorCode.ENHANCE_YOUR_CALM);
    return;
  }
  const route = head.kind === HeadKind.CALL ? host.routes.get(head.path) : undefined;
  const stream = new Stream(id, connection, head, route ?? noRoute);
  stream.remoteClosed = ended;
  connection.streams.add(stream);
  if (head.kind === HeadKind.NOT_GRPC) {
    stream.isTooLarge = connection.headers.isTooLarge;
    if (ended) answerHttp(stream);
    return;
  }
  if (route !== undefined && host.observer?.callStarted !== undefined) observeStart(host, head.path);
  const refusal = route === undefined ? unknownMethod(head.path) : refusalOf(connection, head);
  if (refusal !== undefined) {
    finishWithStatus(stream, refusal.code, refusal.message);
    return;
  }
  if (route!.kind === "bidiStreaming") {
    stream.inbound = new Inbound(stream);
    if (ended) stream.inbound.end();
    pending(stream);
    runStreaming(stream, () => route!.handler(stream.inbound!, stream));
  } else if (ended) endRequest(stream);
}

function observeStart(host: Host, path: string): void {
  try {
    host.observer!.callStarted!(path);
  } catch (error) {
    host.onHandlerError?.(error, path);
  }
}

const noRoute: Route = { path: "", kind: "none" };

function unknownMethod(path: string): GrpcError {
  return new GrpcError(Status.UNIMPLEMENTED, `unknown method ${path.slice(0, 256)}`);
}

/** Why a call to a known method fails before its message is read, if it does. */
function refusalOf(connection: Connection, head: RequestHead): GrpcError | undefined {
  if (connection.headers.isTooLarge)
    return new GrpcError(
      Status.RESOURCE_EXHAUSTED,
      `the request's headers are larger than ${connection.host.limits.maxHeaderListBytes} bytes`,
    );
  if (head.timeoutMs === -2) return new GrpcError(Status.INTERNAL, "grpc-timeout is malformed");
  if (head.encoding === Encoding.UNSUPPORTED)
    return new GrpcError(Status.UNIMPLEMENTED, "grpc-encoding: only identity and gzip are supported");
  return undefined;
}

/** A DATA frame's content, `bytes[start, end)`, of an open stream. Returns where reading goes on. */
export function receiveData(
  stream: Stream,
  bytes: Buffer,
  start: number,
  end: number,
  ended: boolean,
  next: number,
  limit: number,
): number {
  const { head, connection } = stream;
  stream.bodyBytes += end - start;
  if (
    stream.inbound === undefined &&
    end - start >= PREFIX_BYTES &&
    bytes[start] === 0 &&
    readUint32(bytes, start + 1) === end - start - PREFIX_BYTES &&
    stream.route.kind === "unary" &&
    !stream.finished &&
    (head.contentLength < 0 || head.contentLength === end - start)
  ) {
    // The whole message lies in this frame. Its END_STREAM may come in an empty frame right behind it.
    let after = next;
    let isWhole = ended;
    if (!ended && isEmptyLastData(bytes, next, limit, stream.id)) {
      isWhole = true;
      after = next + FRAME_HEADER_BYTES;
    }
    if (isWhole) {
      stream.remoteClosed = true;
      invokeUnary(stream, bytes, start + PREFIX_BYTES, end);
      return after;
    }
  }
  if (ended) stream.remoteClosed = true;
  if (stream.route.kind === "none") {
    if (!stream.finished && stream.bodyBytes > PATIENCE_BYTES) answerHttp(stream);
  } else if (!stream.finished && end > start) {
    stream.inbound ??= new Inbound(stream);
    const fault = stream.inbound.take(bytes, start, end);
    if (fault !== undefined) fail(stream, fault);
    else if (stream.inbound.count > 1 && stream.route.kind !== "bidiStreaming")
      fail(stream, new GrpcError(Status.UNIMPLEMENTED, "more than one request message"));
  }
  if (ended) endBody(stream);
  else connection.returnStreamWindow(stream);
  return next;
}

/** A trailer section: it can only end the request (RFC 9113 section 8.1). */
export function receiveTrailers(stream: Stream, fields: readonly HeaderField[], ended: boolean): void {
  const { connection } = stream;
  if (stream.remoteClosed) connection.resetStream(stream.id, ErrorCode.STREAM_CLOSED);
  else if (!ended || !areValidTrailers(fields)) connection.resetStream(stream.id, ErrorCode.PROTOCOL_ERROR);
  else endBody(stream);
}

function endBody(stream: Stream): void {
  stream.remoteClosed = true;
  if (stream.finished) return;
  const { contentLength } = stream.head;
  if (contentLength >= 0 && contentLength !== stream.bodyBytes)
    stream.connection.resetStream(stream.id, ErrorCode.PROTOCOL_ERROR);
  else endRequest(stream);
}

function isEmptyLastData(bytes: Buffer, at: number, limit: number, id: number): boolean {
  return (
    limit - at >= FRAME_HEADER_BYTES &&
    bytes[at] === 0 &&
    bytes[at + 1] === 0 &&
    bytes[at + 2] === 0 &&
    bytes[at + 3] === FrameType.DATA &&
    bytes[at + 4] === Flag.END_STREAM &&
    readUint32(bytes, at + 5) === id
  );
}

/** The peer has sent its last byte on the stream. */
export function endRequest(stream: Stream): void {
  if (stream.finished) return;
  const { inbound, route } = stream;
  if (route.kind === "none") {
    answerHttp(stream);
    return;
  }
  if (inbound?.isMidMessage) {
    fail(stream, new GrpcError(Status.INTERNAL, "the request ended within a message"));
    return;
  }
  if (route.kind === "bidiStreaming") {
    inbound!.end();
    return;
  }
  const message = inbound?.shift();
  inbound?.release();
  if (message === undefined) {
    fail(stream, new GrpcError(Status.UNIMPLEMENTED, "the request holds no message"));
    return;
  }
  if (!message.compressed) {
    invoke(stream, message.bytes);
    return;
  }
  invokeInflated(stream, message);
}

/** The request's bytes make the call fail; a handler that runs already is told, whatever it waits for. */
function fail(stream: Stream, error: GrpcError): void {
  stream.inbound?.fail(error);
  if (stream.handlerRuns) stream.abandon();
  finishWithError(stream, error);
}
