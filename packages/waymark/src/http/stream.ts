import type { StreamBody } from "./answer.ts";

const SSE = "text/event-stream";

/** True when an Accept header names server-sent events; a wildcard does not. */
export function wantsEvents(accept = ""): boolean {
  return accept.split(",").some((range) => {
    const [type, ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return type === SSE && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

/** A stream whose first piece is known, because the content type follows from it. */
export interface OpenedStream {
  body: StreamBody;
  /** Undefined for a stream that is empty. */
  contentType: string | undefined;
}

/**
 * Starts an iterator. Strings and bytes go out as they are; anything else as a line of JSON, or as an event
 * where `events` says so. What the first step throws is thrown here, while a status can still be chosen.
 */
export async function openStream(
  source: AsyncIterable<unknown> | Iterable<unknown>,
  events: boolean,
): Promise<OpenedStream> {
  const iterator =
    Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  const first = await iterator.next();
  return {
    body: encodeAll(iterator, first, events),
    contentType: first.done === true ? undefined : typeOf(first.value, events),
  };
}

function typeOf(value: unknown, events: boolean): string {
  if (typeof value === "string") return events ? SSE : "text/plain; charset=utf-8";
  if (value instanceof Uint8Array) return "application/octet-stream";
  return events ? SSE : "application/x-ndjson";
}

function encode(value: unknown, events: boolean): string | Uint8Array {
  if (typeof value === "string" || value instanceof Uint8Array) return value;
  const text = stringify(value);
  return events ? `data: ${text}\n\n` : `${text}\n`;
}

/** Hand-made, so that `return()` reaches the source even when the first piece was never taken. */
function encodeAll(
  iterator: AsyncIterator<unknown> | Iterator<unknown>,
  first: IteratorResult<unknown>,
  events: boolean,
): StreamBody {
  let head: IteratorResult<unknown> | undefined = first;
  const steps: AsyncIterator<string | Uint8Array> = {
    async next() {
      const step = head ?? (await iterator.next());
      head = undefined;
      return step.done === true
        ? { done: true, value: undefined }
        : { done: false, value: encode(step.value, events) };
    },
    async return() {
      await iterator.return?.();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => steps };
}

/** `JSON.stringify` with bigints as strings, and `Map` and `Set` as errors wherever they stand. */
export function stringify(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    // Only a bigint is worth a second, slower try; a cycle fails there again.
    if (!(error instanceof TypeError)) throw error;
    text = JSON.stringify(value, carry);
  }
  if (text === undefined) throw new TypeError(`a ${typeof value} cannot be sent as JSON`);
  // A Map or Set shows as {} and nothing else does so wrongly: look again, slowly, only then.
  if (text.includes("{}")) JSON.stringify(value, carry);
  return text;
}

function carry(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (value instanceof Map)
    throw new TypeError("a Map cannot be sent as JSON: return Object.fromEntries(map)");
  if (value instanceof Set) throw new TypeError("a Set cannot be sent as JSON: return [...set]");
  return value;
}
