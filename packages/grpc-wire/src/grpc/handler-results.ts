/** Checks of handlers' results at run time. */
import { copyOf } from "../frames/copy.ts";
import type { InPlaceUnaryHandler, UnaryCall, UnaryHandler } from "../types.ts";

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    ((typeof value === "object" && value !== null) || typeof value === "function") &&
    "then" in value &&
    typeof value.then === "function"
  );
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<Uint8Array> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

const WRONG_RESULT = "a unary handler must return a Uint8Array or a promise of one";

/** A call that keeps its slot until a promise settles. */
interface SlotHolder {
  holdSlot<T>(run: () => Promise<T>, onResult: (value: T) => void): void;
}

/** Wraps a simple handler as an in-place handler. The simple handler receives a copy of the message. */
export function inPlace(handler: UnaryHandler): InPlaceUnaryHandler {
  return (call) => {
    const answer: unknown = handler(copyOf(call.buffer, call.start, call.end), call);
    if (answer instanceof Uint8Array) return call.finish(answer);
    if (!isThenable(answer)) throw new TypeError(WRONG_RESULT);
    // The server calls in-place handlers with its own calls only.
    (call as UnaryCall & SlotHolder).holdSlot(
      () => Promise.resolve(answer),
      (message) => {
        if (message instanceof Uint8Array) call.finish(message);
        else call.fail(new TypeError(WRONG_RESULT));
      },
    );
  };
}
