import type { Wire } from "./wire.ts";

/** A failure that a method returns: `problem(404, ...)` has this shape. */
interface ReturnedProblem {
  readonly code: "ERR_HTTP";
  readonly status: number;
}

type Bytes = Blob | ArrayBuffer | ArrayBufferView;

/** The result of a call, from the method's return value. */
export type Answer<T, Revive extends boolean> = 0 extends 1 & T
  ? T
  : // biome-ignore lint/suspicious/noConfusingVoidType: the return type of a method without an answer
    T extends void | null
    ? undefined
    : T extends string | number | boolean
      ? T
      : T extends ReturnedProblem | Error
        ? never
        : T extends Response
          ? unknown
          : T extends Bytes
            ? Blob
            : T extends readonly unknown[]
              ? Wire<T, Revive>
              : T extends AsyncIterable<infer Item> | Iterable<infer Item>
                ? AsyncIterable<StreamItem<Item, Revive>>
                : T extends { getReader(): unknown }
                  ? AsyncIterable<Uint8Array>
                  : Wire<T, Revive>;

/** An event that a method yields. Its data alone is the item of a stream. */
interface SentEvent {
  readonly type: "server-sent-event";
  readonly data: unknown;
}

type StreamItem<T, Revive extends boolean> = T extends Bytes
  ? Uint8Array
  : T extends SentEvent
    ? Wire<Exclude<T["data"], undefined>, Revive>
    : Wire<T, Revive>;

/** A server-sent event. */
export interface ReceivedEvent<Data> {
  /** The value of JSON that the event carries. */
  readonly data: Data;
  /** `message` if the server gives it no name. */
  readonly event: string;
  /** The last id that the server has given. Send it as `last-event-id` to continue from there. */
  readonly id: string | undefined;
}

/** The data of the events that a method yields. */
export type EventData<T, Revive extends boolean> = T extends AsyncIterable<infer Item> | Iterable<infer Item>
  ? StreamItem<Item, Revive>
  : unknown;

/** One fault of a request: its place, its name (`point.x`), and what is expected. */
export interface RequestFault {
  /** Where the value was. */
  readonly in: "path" | "query" | "body";
  /** The name of the argument, with its path: `point.x`. */
  readonly name: string;
  /** The value that the server expects, or another reason. */
  readonly message: string;
}

/** Problem details (RFC 9457). */
export interface ProblemDetails {
  /** A URI that identifies the kind of problem; `about:blank` for none. */
  readonly type: string;
  /** A short text for the kind of problem. */
  readonly title: string;
  /** The HTTP status. */
  readonly status: number;
  /** The fault of this request. */
  readonly detail?: string;
  /** All faults of the arguments, if the server refused them. */
  readonly errors?: readonly RequestFault[];
}

/** A 2xx response. */
export interface Success<Status extends number, Data> {
  /** True: the response has `data`. */
  readonly ok: true;
  /** The HTTP status. */
  readonly status: Status;
  /** The value that the method returned. */
  readonly data: Data;
  /** The headers of the response. */
  readonly headers: Headers;
  /** The response. Its body has been read, unless `data` is a stream. */
  readonly response: Response;
}

/** Any other response. */
export interface Failure<Status extends number, Problem> {
  /** False: the response has `problem`. */
  readonly ok: false;
  /** The HTTP status. */
  readonly status: Status;
  /** The problem details. */
  readonly problem: Problem;
  /** The headers of the response. */
  readonly headers: Headers;
  /** The response. Its body has been read. */
  readonly response: Response;
}

type ContentStatus = 200 | 201 | 202 | 203 | 206 | 207 | 208 | 226;
type EmptyStatus = 204 | 205;
/** The registered statuses from 300. A literal for each of them, so that a comparison narrows the result. */
type FailureStatus =
  | (300 | 301 | 302 | 303 | 304 | 305 | 307 | 308)
  | (400 | 401 | 402 | 403 | 404 | 405 | 406 | 407 | 408 | 409 | 410 | 411 | 412 | 413 | 414 | 415 | 416)
  | (417 | 418 | 421 | 422 | 423 | 424 | 425 | 426 | 428 | 429 | 431 | 451)
  | (500 | 501 | 502 | 503 | 504 | 505 | 506 | 507 | 508 | 510 | 511);

/** The result of `.safe()`, which `ok` and `status` narrow. */
export type Result<T, Revive extends boolean> =
  | Succeeded<Answer<T, Revive>>
  | Declared<T>
  | Failure<Exclude<FailureStatus, Declared<T>["status"]>, ProblemDetails>;

type Succeeded<Data> =
  | ([Exclude<Data, undefined>] extends [never] ? never : Success<ContentStatus, Exclude<Data, undefined>>)
  | (undefined extends Data ? Success<EmptyStatus, undefined> : never);

/** The problems that a method returns. The server itself refuses arguments with 400, without these members. */
type Declared<T> = T extends ReturnedProblem & { readonly members: infer Members }
  ? T["status"] extends 400
    ? Failure<400, ProblemDetails & Partial<Members>>
    : Failure<T["status"], ProblemDetails & Members>
  : never;
