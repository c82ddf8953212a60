import { type Answer, endStream, headerOf, type StreamBody } from "../http/answer.ts";

/** The request of a streamed answer. */
interface Client {
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
  /** Aborts the signal. */
  readonly abort: AbortController;
}

interface SentStream {
  /** Logs an error that occurs after the answer has begun. */
  readonly report: (error: unknown) => void;
  /** The headers of the answer. */
  readonly headers: Answer["headers"];
  /** Whether the head of an answer waits for the first byte of its body. */
  readonly headWaits: boolean;
}

/** A comment of an event stream: bytes, and no event. A stream that has no event yet begins with it. */
const COMMENT = new TextEncoder().encode(":\n\n");

/** The body of an answer as a stream. It ends when its reader cancels or the client goes away. */
export function streamOf(
  body: StreamBody,
  client: Client,
  { report, headers, headWaits }: SentStream,
): ReadableStream<Uint8Array> {
  const isEvents = headerOf(headers, "content-type")?.startsWith("text/event-stream") === true;
  const opening = headWaits && isEvents ? COMMENT : undefined;
  return sized(unsized(body, client, report, opening), headerOf(headers, "content-length"));
}

/** A worker sends a stream in chunks, without its length, unless the length is that of the stream. */
function sized(stream: ReadableStream<Uint8Array>, length: string | undefined): ReadableStream<Uint8Array> {
  const { FixedLengthStream } = globalThis as {
    FixedLengthStream?: new (length: number) => TransformStream<Uint8Array, Uint8Array>;
  };
  if (FixedLengthStream === undefined || length === undefined) return stream;
  return stream.pipeThrough(new FixedLengthStream(Number(length)));
}

function unsized(
  body: StreamBody,
  client: Client,
  report: SentStream["report"],
  opening: Uint8Array | undefined,
): ReadableStream<Uint8Array> {
  const { signal } = client;
  const iterator = body[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let isFirst = true;
  let left = () => {};
  return new ReadableStream({
    start(controller) {
      left = () => {
        void endStream(body);
        controller.error(signal.reason);
      };
      signal.addEventListener("abort", left, { once: true });
    },
    async pull(controller) {
      try {
        let step = await iterator.next();
        const opens = isFirst && step.done !== true && step.value.length === 0;
        isFirst = false;
        if (opens && opening !== undefined) return controller.enqueue(opening);
        // An empty piece only sends the head, which a Response has already done.
        while (step.done !== true && step.value.length === 0) step = await iterator.next();
        if (signal.aborted) return;
        if (step.done !== true)
          return controller.enqueue(typeof step.value === "string" ? encoder.encode(step.value) : step.value);
        controller.close();
      } catch (error) {
        if (signal.aborted) return;
        report(error);
        controller.error(error);
      }
      signal.removeEventListener("abort", left);
    },
    async cancel() {
      signal.removeEventListener("abort", left);
      // A source that waits for the signal ends, and a pending `pull` finds that nobody reads.
      client.abort.abort(new DOMException("the client has left", "AbortError"));
      await endStream(body);
    },
  });
}
