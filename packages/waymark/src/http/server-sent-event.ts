const SERVER_SENT_EVENT = Symbol.for("@tollway/waymark.ServerSentEvent");

/** The fields of a `ServerSentEvent`. All are optional. */
export interface ServerSentEventFields<Data> {
  /** Any value of JSON. Without it, the event only sets the id or the retry time. */
  readonly data?: Data;
  /** The name for `addEventListener`. Default `message`. */
  readonly event?: string;
  /** The browser sends it as `last-event-id` when it connects again. */
  readonly id?: string | number;
  /** Milliseconds until the browser connects again. */
  readonly retry?: number;
}

/**
 * An event of a stream: `yield new ServerSentEvent({ event: "added", id: 7, data: book })`. For a client that does not ask
 * for events, the stream consists of the data alone.
 * @example
 * ```ts
 * import { Controller, ServerSentEvent } from "@tollway/waymark";
 *
 * export class Clock extends Controller {
 *   async *GET() {
 *     for (let id = 1; !this.signal.aborted; id++)
 *       yield new ServerSentEvent({ id, event: "tick", data: { at: Date.now() } });
 *   }
 * }
 * ```
 */
export class ServerSentEvent<Data = unknown> {
  /** Tells the type apart from data. */
  readonly type = "server-sent-event";
  /** The data, before it becomes JSON. */
  readonly data: Data | undefined;
  /** The name of the event. */
  readonly event: string | undefined;
  /** The id of the event, as text. */
  readonly id: string | undefined;
  /** Milliseconds until the browser connects again. */
  readonly retry: number | undefined;

  constructor({ data, event, id, retry }: ServerSentEventFields<Data>) {
    if (event !== undefined && /[\r\n]/.test(event))
      throw new TypeError("the name of an event must be one line");
    const idText = id === undefined ? undefined : String(id);
    if (idText !== undefined && /[\r\n\0]/.test(idText))
      throw new TypeError("the id of an event must be one line");
    if (retry !== undefined && !(Number.isInteger(retry) && retry >= 0))
      throw new TypeError(`retry must be a number of milliseconds, not ${retry}`);
    this.data = data;
    this.event = event;
    this.id = idText;
    this.retry = retry;
  }

  /** True for an event of any copy of this package. */
  static is(value: unknown): value is ServerSentEvent {
    return typeof value === "object" && value !== null && SERVER_SENT_EVENT in value;
  }

  /** The same event with other data. */
  withData<Other>(data: Other): ServerSentEvent<Other> {
    const { event, id, retry } = this;
    return new ServerSentEvent({
      data,
      ...(event !== undefined && { event }),
      ...(id !== undefined && { id }),
      ...(retry !== undefined && { retry }),
    });
  }
}
Object.defineProperty(ServerSentEvent.prototype, SERVER_SENT_EVENT, { value: true });

/** The lines of an event. Without any field, a comment: it keeps the connection open and is not an event. */
export function eventText(
  { data, event, id, retry }: ServerSentEvent,
  stringify: (value: unknown) => string,
): string {
  let text = "";
  if (event !== undefined) text += `event: ${event}\n`;
  if (id !== undefined) text += `id: ${id}\n`;
  if (retry !== undefined) text += `retry: ${retry}\n`;
  if (data !== undefined) text += `data: ${stringify(data)}\n`;
  return text === "" ? ":\n\n" : `${text}\n`;
}
