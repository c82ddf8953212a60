/** What handlers return, whatever their types promise. */
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

const wrongAnswer = "a unary handler must answer with a Uint8Array or a promise of one";

/** A call that keeps its slot while a promise runs. */
interface SlotHolder {
  holdSlot<T>(run: () => Promise<T>, onResult: (value: T) => void): void;
}

/** The in-place form of a simple handler: it gets a copy of the message, and may answer with a promise. */
export function inPlace(handler: UnaryHandler): InPlaceUnaryHandler {
  return (call) => {
    const answer: unknown = handler(copyOf(call.buffer, call.start, call.end), call);
    if (answer instanceof Uint8Array) return call.finish(answer);
    if (!isThenable(answer)) throw new TypeError(wrongAnswer);
    // In-place handlers are only called with the server's own calls.
    (call as UnaryCall & SlotHolder).holdSlot(
      () => Promise.resolve(answer),
      (message) => {
        if (message instanceof Uint8Array) call.finish(message);
        else call.fail(new TypeError(wrongAnswer));
      },
    );
  };
}
