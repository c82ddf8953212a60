/** From a message to its handler, and from what the handler does to the call's end. */
import { copyOf } from "../frames/copy.ts";
import { OversizedMessage } from "../grpc/oversized.ts";
import { Status } from "../grpc/status.ts";
import type { InPlaceUnaryHandler, UnaryHandler } from "../types.ts";
import { finishWithError } from "./failing.ts";
import { inflated, type ReceivedMessage } from "./inbound.ts";
import { finishWithStatus, refuseAnswer } from "./responses.ts";
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
  else if (route.kind === "serverStreaming" && !refuseAnswer(stream)) {
    pending(stream);
    runStreaming(stream, () => route.handler(message, stream));
  }
}

export function invokeUnary(stream: Stream, bytes: Uint8Array, start: number, end: number): void {
  const { connection, route } = stream;
  if (end - start > connection.host.limits.maxRequestBytes) {
    const limit = connection.host.limits.maxRequestBytes;
    finishWithError(stream, new OversizedMessage(`the message is larger than ${limit} bytes`));
    return;
  }
  if (stream.isLate(connection.now) && !stream.isPending) {
    finishWithStatus(stream, Status.DEADLINE_EXCEEDED, "the deadline has passed");
    return;
  }
  if (refuseAnswer(stream)) return;
  stream.buffer = bytes;
  stream.start = start;
  stream.end = end;
  try {
    if (route.kind === "unary") {
      const result: unknown = route.handler(stream);
      // An async function fits the type, too. When it rejects, its call fails; the process does not end.
      if (isThenable(result)) holdSlot(stream, Promise.resolve(result), () => {});
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

/** The call is answered later: it counts as active, and its deadline is watched. */
export function pending(stream: Stream): void {
  if (stream.isPending || stream.finished) return;
  const { host } = stream.connection;
  stream.isPending = true;
  host.activeCalls += 1;
  if (stream.head.timeoutMs >= 0) host.deadlines.add(stream);
}

export function runStreaming(stream: Stream, start: () => AsyncIterable<Uint8Array> | Promise<void>): void {
  holdSlot(stream, deliver(stream, start), () => {
    if (!stream.finished) finishWithStatus(stream, Status.OK, "");
  });
}

async function deliver(
  stream: Stream,
  start: () => AsyncIterable<Uint8Array> | Promise<void>,
): Promise<void> {
  const result: unknown = start();
  if (isAsyncIterable(result)) for await (const message of result) await stream.write(message);
  else if (isThenable(result)) await result;
  else throw new TypeError("a streaming handler must return an async iterable or a promise");
}

/**
 * Keeps the call's slot of `maxConcurrentStreams` until the handler's promise settles, even when the stream ends first.
 * This is the only place that takes and frees a slot, so every handler gives its slot back exactly once.
 */
function holdSlot<T>(stream: Stream, running: Promise<T>, onResult: (value: T) => void): void {
  stream.handlerRuns = true;
  const free = () => {
    stream.handlerRuns = false;
    if (stream.isOrphan) stream.connection.orphans -= 1;
  };
  running.then(
    (value) => {
      free();
      try {
        onResult(value);
      } catch (error) {
        stream.fail(error);
      }
    },
    (error) => {
      free();
      stream.fail(error);
    },
  );
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    ((typeof value === "object" && value !== null) || typeof value === "function") &&
    "then" in value &&
    typeof value.then === "function"
  );
}

function isAsyncIterable(value: unknown): value is AsyncIterable<Uint8Array> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

const wrongAnswer = "a unary handler must answer with a Uint8Array or a promise of one";

/** The in-place form of a simple handler: it gets a copy of the message, and may answer with a promise. */
export function inPlace(handler: UnaryHandler): InPlaceUnaryHandler {
  return (call) => {
    const answer: unknown = handler(copyOf(call.buffer, call.start, call.end), call);
    if (answer instanceof Uint8Array) return call.finish(answer);
    if (!isThenable(answer)) throw new TypeError(wrongAnswer);
    holdSlot(call as Stream, Promise.resolve(answer), (message) => {
      if (message instanceof Uint8Array) call.finish(message);
      else call.fail(new TypeError(wrongAnswer));
    });
  };
}
