/** From a header block to a call, from DATA to its message, from the message to the handler. */

import { ErrorCode, Flag, FRAME_HEADER_BYTES, FrameType } from "../frames/constants.ts";
import { copyOf } from "../frames/copy.ts";
import { readUint32 } from "../frames/write.ts";
import { areValidTrailers, Encoding, HeadKind, type RequestHead } from "../grpc/request-head.ts";
import { GrpcError, Status, type StatusCode } from "../grpc/status.ts";
import { encodeHeaders } from "../hpack/encoder.ts";
import type { HeaderField } from "../hpack/field.ts";
import type { InPlaceUnaryHandler, UnaryHandler } from "../types.ts";
import type { Connection } from "./connection.ts";
import type { Host, Route } from "./host.ts";
import { Inbound, inflated, type ReceivedMessage } from "./inbound.ts";
import { closeLocal, finishWithStatus, writeHeaderBlock } from "./responses.ts";
import { Stream } from "./stream.ts";

const PREFIX_BYTES = 5;
const EMPTY = new Uint8Array(0);

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
  if (isQueueFull(connection)) {
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

/**
 * Whether too many answers wait for a window already. Where that is the server's sum, a connection whose own
 * answers leave is served all the same: one slow reader is not everybody's.
 */
function isQueueFull({ queuedBytes, host }: Connection): boolean {
  if (queuedBytes === 0) return false;
  const { maxQueuedBytesPerConnection, maxQueuedBytes } = host.limits;
  return queuedBytes > maxQueuedBytesPerConnection || host.queuedBytes > maxQueuedBytes;
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

/** Well-formed HTTP that is no gRPC call is answered when it has ended, or when this much of it has come. */
const PATIENCE_BYTES = 64 * 1024;

/** 415, its text as far as the peer's window goes. */
function answerHttp(stream: Stream): void {
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

function invokeInflated(stream: Stream, message: ReceivedMessage): void {
  try {
    const plain = inflated(message, stream);
    if (plain instanceof Uint8Array) {
      invoke(stream, plain);
      return;
    }
    pending(stream);
    plain.then(
      (bytes) => {
        if (!stream.finished) invoke(stream, bytes);
      },
      (error) => stream.fail(error),
    );
  } catch (error) {
    stream.fail(error);
  }
}

/** Runs the handler with a message of the call's own. */
function invoke(stream: Stream, message: Uint8Array): void {
  const { route } = stream;
  if (route.kind === "unary") invokeUnary(stream, message, 0, message.length);
  else if (route.kind === "serverStreaming") {
    pending(stream);
    runStreaming(stream, () => route.handler(message, stream));
  }
}

function invokeUnary(stream: Stream, bytes: Uint8Array, start: number, end: number): void {
  const { connection, route } = stream;
  if (end - start > connection.host.limits.maxRequestBytes) {
    const limit = connection.host.limits.maxRequestBytes;
    finishWithStatus(stream, Status.RESOURCE_EXHAUSTED, `the message is larger than ${limit} bytes`);
    return;
  }
  if (stream.head.timeoutMs >= 0 && stream.deadline <= connection.now && !stream.isPending) {
    finishWithStatus(stream, Status.DEADLINE_EXCEEDED, "the deadline has passed");
    return;
  }
  stream.buffer = bytes;
  stream.start = start;
  stream.end = end;
  try {
    if (route.kind === "unary") {
      const result: unknown = route.handler(stream);
      if (result !== undefined) settleLater(stream, result);
    }
  } catch (error) {
    stream.fail(error);
  }
  if (stream.finished) return;
  stream.buffer = EMPTY;
  stream.start = 0;
  stream.end = 0;
  pending(stream);
}

/**
 * An in-place handler that is an async function, which its type does not keep out: what it rejects with is the
 * call's failure and not the process's end.
 */
function settleLater(stream: Stream, result: unknown): void {
  if (!(result instanceof Promise)) return;
  stream.handlerRuns = true;
  result.then(
    () => handlerReturned(stream),
    (error) => {
      handlerReturned(stream);
      stream.fail(error);
    },
  );
}

/** The call is answered later: it counts as active, and its deadline is watched. */
function pending(stream: Stream): void {
  if (stream.isPending || stream.finished) return;
  const { host } = stream.connection;
  stream.isPending = true;
  host.activeCalls += 1;
  if (stream.head.timeoutMs >= 0) host.deadlines.add(stream);
}

async function runStreaming(
  stream: Stream,
  start: () => AsyncIterable<Uint8Array> | Promise<void>,
): Promise<void> {
  stream.handlerRuns = true;
  try {
    const result = start();
    if (Symbol.asyncIterator in result) {
      for await (const message of result) await stream.write(message);
    } else await result;
    if (!stream.finished) finishWithStatus(stream, Status.OK, "");
  } catch (error) {
    stream.fail(error);
  } finally {
    handlerReturned(stream);
  }
}

/** The handler's promise has settled. One that ran on after its stream was gone no longer counts as a call. */
function handlerReturned(stream: Stream): void {
  stream.handlerRuns = false;
  if (stream.isOrphan) stream.connection.orphans -= 1;
}

/** The in-place form of a simple handler: it gets a copy of the message, and may answer with a promise. */
export function inPlace(handler: UnaryHandler): InPlaceUnaryHandler {
  return (call) => {
    const answer = handler(copyOf(call.buffer, call.start, call.end), call);
    if (answer instanceof Uint8Array) return call.finish(answer);
    const stream = call as Stream;
    stream.handlerRuns = true;
    answer.then(
      (message) => {
        handlerReturned(stream);
        if (message instanceof Uint8Array) call.finish(message);
        else call.fail(new TypeError("a unary handler must answer with a Uint8Array"));
      },
      (error) => {
        handlerReturned(stream);
        call.fail(error);
      },
    );
  };
}

/** The request's bytes make the call fail; a handler that runs already is told, whatever it waits for. */
function fail(stream: Stream, error: GrpcError): void {
  stream.inbound?.fail(error);
  if (stream.handlerRuns) stream.abandon();
  finishWithStatus(stream, error.code as StatusCode, error.message);
}
