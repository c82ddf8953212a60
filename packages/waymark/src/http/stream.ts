import { type Answer, emptyAnswer, headerOf, isContentless } from "./answer.ts";
import { mediaType } from "./body-kind.ts";
import type { BodySource, First } from "./body-source.ts";
import { checkStatus, type ResponseState } from "./call.ts";
import type { EventStreams } from "./event-streams.ts";
import { flatten } from "./headers.ts";
import type { Incoming } from "./incoming.ts";
import { eventText, ServerSentEvent } from "./server-sent-event.ts";
import { stringify } from "./stringify.ts";
import { nextTurn } from "./turn.ts";

const SSE = "text/event-stream";

/** The request of an answer. A `Call` has all members. An error without a controller has only the request. */
export interface AnswerContext {
  readonly incoming: Incoming;
  readonly response?: ResponseState | undefined;
  readonly settings?: { readonly events: EventStreams } | undefined;
  /** Aborts the controller's signal. */
  abort?(reason: unknown): void;
}

/** True if an Accept header names server-sent events. A wildcard does not count. */
export function wantsEvents(accept = ""): boolean {
  return accept.split(",").some((range) => {
    const [type, ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return type === SSE && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

/** The head of a streamed answer. It is created with the first piece, so that a generator can still change it. */
interface Head {
  readonly status: number;
  readonly headers: string[];
}

/** The answer for a returned stream or iterable. */
export function streamAnswer(source: BodySource, context: AnswerContext): Promise<Answer> {
  const head = () => {
    const status = context.response?.status ?? 200;
    checkStatus(status);
    const touched = context.response?.touched;
    return { status, headers: touched === undefined ? [] : flatten(touched) };
  };
  return openStream(source, context, head, (first) => typeOf(source, first));
}

/**
 * Reads the first piece of a stream. An error before it can still change the status, and the piece determines the
 * content type. For an event stream, waits one turn only. Releases the source if its body is not sent.
 */
export async function openStream(
  source: BodySource,
  context: AnswerContext,
  head: () => Head,
  defaultType: (first: First | undefined) => string | undefined,
): Promise<Answer> {
  const { incoming } = context;
  try {
    const planned = head();
    if (isContentless(planned.status)) return withoutContent(source, planned);
    if (incoming.method === "HEAD") {
      void source.return();
      return { ...typed(planned, defaultType(undefined)), body: null };
    }
    const first = source.peek();
    const events = isEventStream(source, incoming, headerOf(head().headers, "content-type"));
    if (source.isIterable) source.encode = (value) => encode(value, events);
    if (events) endWithStop(source, context);
    const opened = await (events ? firstOrTurn(first) : firstOrGone(first, source, incoming));
    if (opened === PENDING) source.openEmpty();
    const made = head();
    if (isContentless(made.status)) return withoutContent(source, made);
    return { ...typed(made, events || opened === PENDING ? SSE : defaultType(opened)), body: source };
  } catch (error) {
    void source.return();
    throw error;
  }
}

function withoutContent(source: BodySource, { status, headers }: Head): Answer {
  void source.return();
  return emptyAnswer(status, headers);
}

function typed(head: Head, type: string | undefined): Head {
  if (type !== undefined && headerOf(head.headers, "content-type") === undefined)
    head.headers.push("content-type", type);
  return head;
}

function isEventStream(source: BodySource, incoming: Incoming, type: string | undefined): boolean {
  if (type !== undefined) return mediaType(type) === SSE;
  return source.isIterable && wantsEvents(incoming.header("accept"));
}

function endWithStop(source: BodySource, context: AnswerContext): void {
  source.onEnd = context.settings?.events.add({
    abort: () => context.abort?.(new DOMException("the server is stopping", "AbortError")),
    end: () => void source.return(),
  });
}

type MaybeFirst = Promise<First | undefined>;

const PENDING = Symbol("pending");

/** The first piece, or `PENDING` if it takes longer than one turn of the event loop. */
function firstOrTurn(first: MaybeFirst): Promise<First | undefined | typeof PENDING> {
  return Promise.race([first, new Promise<typeof PENDING>((resolve) => nextTurn(() => resolve(PENDING)))]);
}

/** The first piece, or undefined if the client goes away before it. */
async function firstOrGone(first: MaybeFirst, source: BodySource, incoming: Incoming): MaybeFirst {
  const left = () => void source.return();
  let signal: AbortSignal | undefined;
  // The first piece is usually available at once, and a signal costs 1 µs.
  const unwatch = nextTurn(() => {
    signal = incoming.signal;
    if (signal.aborted) left();
    else signal.addEventListener("abort", left, { once: true });
  });
  try {
    return await first;
  } finally {
    unwatch();
    signal?.removeEventListener("abort", left);
  }
}

/** Undefined for a generator whose first piece is unknown. */
function typeOf({ isIterable }: BodySource, first: First | undefined): string | undefined {
  if (!isIterable) return "application/octet-stream";
  if (first === undefined) return undefined;
  if (typeof first.value === "string") return "text/plain; charset=utf-8";
  return first.value instanceof Uint8Array ? "application/octet-stream" : "application/x-ndjson";
}

function encode(value: unknown, events: boolean): string | Uint8Array {
  if (typeof value === "string" || value instanceof Uint8Array) return value;
  if (value instanceof Error) throw value;
  if (ServerSentEvent.is(value)) {
    if (events) return eventText(value, stringify);
    // A reader of lines needs no comments.
    return value.data === undefined ? "" : `${stringify(value.data)}\n`;
  }
  const text = stringify(value);
  return events ? `data: ${text}\n\n` : `${text}\n`;
}
