/** From a message to its handler, and from what the handler does to the call's end. */
import { copyOf } from "../frames/copy.ts";
import { Status } from "../grpc/status.ts";
import type { InPlaceUnaryHandler, UnaryHandler } from "../types.ts";
import { inflated, type ReceivedMessage } from "./inbound.ts";
import { finishWithStatus } from "./responses.ts";
import type { Stream } from "./stream.ts";

const EMPTY = new Uint8Array(0);

export function invokeInflated(stream: Stream, message: ReceivedMessage): void {
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
export function invoke(stream: Stream, message: Uint8Array): void {
  const { route } = stream;
  if (route.kind === "unary") invokeUnary(stream, message, 0, message.length);
  else if (route.kind === "serverStreaming") {
    pending(stream);
    runStreaming(stream, () => route.handler(message, stream));
  }
}

export function invokeUnary(stream: Stream, bytes: Uint8Array, start: number, end: number): void {
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
export function pending(stream: Stream): void {
  if (stream.isPending || stream.finished) return;
  const { host } = stream.connection;
  stream.isPending = true;
  host.activeCalls += 1;
  if (stream.head.timeoutMs >= 0) host.deadlines.add(stream);
}

export async function runStreaming(
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
