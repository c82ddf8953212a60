import type { Exchange } from "../controller/exchange.ts";
import type { StreamBody } from "../http/answer.ts";

/** The same body. Counts its bytes, and calls `end` once: after the last piece, an error, or when it is released. */
export function observedBody(body: StreamBody, exchange: Exchange, end: () => void): StreamBody {
  let iterator: AsyncIterator<Uint8Array | string> | undefined;
  const inner = () => {
    iterator ??= body[Symbol.asyncIterator]();
    return iterator;
  };
  const encoder = new TextEncoder();
  let over = false;
  // A release also ends a pending `next()`, as if the body were complete.
  let released = false;
  const finish = () => {
    if (over) return;
    over = true;
    end();
  };
  const steps: AsyncIterator<Uint8Array | string> = {
    async next() {
      try {
        const step = await inner().next();
        if (step.done === true) {
          exchange.complete = !over && !released;
          finish();
        } else
          exchange.bytes +=
            typeof step.value === "string" ? encoder.encode(step.value).length : step.value.length;
        return step;
      } catch (error) {
        exchange.error = error;
        finish();
        throw error;
      }
    },
    async return() {
      released = true;
      try {
        return (await inner().return?.()) ?? { done: true, value: undefined };
      } finally {
        finish();
      }
    },
  };
  return { [Symbol.asyncIterator]: () => steps };
}
