import { Buffer } from "node:buffer";
import {
  type Answer,
  emptyAnswer,
  headerOf,
  isBodiless,
  JSON_TYPE,
  jsonAnswer,
  type StreamBody,
} from "./answer.ts";
import { mediaType } from "./body.ts";
import type { ResponseState } from "./call.ts";
import { flatten } from "./headers.ts";
import type { Incoming } from "./incoming.ts";
import { openStream, stringify, wantsEvents } from "./stream.ts";

/** The answer for what a method returned. A promise only for streams, whose first piece decides the type. */
export function toAnswer(
  value: unknown,
  state: ResponseState | undefined,
  incoming: Incoming,
): Answer | Promise<Answer> {
  if (state === undefined) {
    if (typeof value === "string") return jsonAnswer(200, JSON.stringify(value));
    if (value === undefined || value === null) return emptyAnswer(204);
    if (isPlain(value)) return jsonAnswer(200, stringify(value));
  }
  if (value instanceof Response) return responseAnswer(value, state);
  const touched = state?.touched;
  const headers = touched === undefined ? [] : flatten(touched);
  if (value === undefined || value === null) return emptyAnswer(state?.status ?? 204, headers);
  const status = state?.status ?? 200;
  checkStatus(status);
  // What cannot carry a body does not get one.
  if (isBodiless(status)) return { status, headers, body: null };
  if (typeof value === "string") {
    const type = headerOf(headers, "content-type");
    return type === undefined || isJson(type)
      ? sized(status, headers, JSON.stringify(value), JSON_TYPE)
      : sized(status, headers, value, type);
  }
  if (typeof value === "object") {
    if (value instanceof Uint8Array) return sized(status, headers, value, "application/octet-stream");
    if (value instanceof ArrayBuffer)
      return sized(status, headers, new Uint8Array(value), "application/octet-stream");
    if (value instanceof Blob) {
      setDefault(headers, "content-type", value.type || "application/octet-stream");
      setLength(headers, value.size);
      return { status, headers, body: readable(value.stream()) };
    }
    if (value instanceof ReadableStream) {
      setDefault(headers, "content-type", "application/octet-stream");
      return { status, headers, body: readable(value) };
    }
    if (isByteStream(value)) {
      setDefault(headers, "content-type", "application/octet-stream");
      return { status, headers, body: value };
    }
    if (isIterator(value)) return streamAnswer(value, status, headers, incoming);
  }
  return sized(status, headers, stringify(value), JSON_TYPE);
}

async function streamAnswer(
  value: AsyncIterable<unknown> | Iterable<unknown>,
  status: number,
  headers: string[],
  incoming: Incoming,
): Promise<Answer> {
  // HEAD asks for what can be known without running the generator.
  if (incoming.method === "HEAD") return { status, headers, body: null };
  const set = headerOf(headers, "content-type");
  const events =
    set === undefined ? wantsEvents(incoming.header("accept")) : mediaType(set) === "text/event-stream";
  const { body, contentType } = await openStream(value, events);
  if (contentType !== undefined) setDefault(headers, "content-type", contentType);
  return { status, headers, body };
}

/** The answer for a WHATWG `Response`; headers that the method set besides are added where it has none of that name. */
export function responseAnswer(response: Response, state?: ResponseState): Answer {
  if (response.status < 200) throw new TypeError(`a Response of status ${response.status} cannot be sent`);
  if (response.bodyUsed) throw new TypeError("the body of the returned Response has already been read");
  const headers = flatten(response.headers);
  if (state?.touched !== undefined) {
    for (const [name, value] of state.touched) {
      if (name === "set-cookie" || !response.headers.has(name)) headers.push(name, value);
    }
  }
  if (response.body === null || isBodiless(response.status)) return emptyAnswer(response.status, headers);
  return { status: response.status, headers, body: readable(response.body) };
}

/** Data as a literal writes it: by far the commonest answer, so it goes ahead of the tests for all the others. */
function isPlain(value: unknown): boolean {
  if (typeof value !== "object") return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Array.prototype) return true;
  if (prototype !== Object.prototype) return false;
  // Reading what is not there costs less than asking whether it is: 60 ns.
  const odd = value as { [Symbol.asyncIterator]?: unknown; [Symbol.iterator]?: unknown; pipe?: unknown };
  return (
    odd[Symbol.asyncIterator] === undefined && odd[Symbol.iterator] === undefined && odd.pipe === undefined
  );
}

function checkStatus(status: number): void {
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new RangeError(`this.response.status must be from 200 to 599, not ${status}`);
}

function isJson(type: string): boolean {
  const media = mediaType(type);
  return media === "application/json" || media.endsWith("+json");
}

function sized(status: number, headers: string[], body: string | Uint8Array, type: string): Answer {
  setDefault(headers, "content-type", type);
  setLength(headers, typeof body === "string" ? Buffer.byteLength(body) : body.length);
  return { status, headers, body };
}

function setDefault(headers: string[], name: string, value: string): void {
  if (headerOf(headers, name) === undefined) headers.push(name, value);
}

function setLength(headers: string[], length: number): void {
  const at = headers.indexOf("content-length");
  if (at === -1) headers.push("content-length", String(length));
  else headers[at + 1] = String(length);
}

function readable(stream: ReadableStream): StreamBody {
  return stream as StreamBody;
}

/** A Node stream, by shape: its pieces are bytes or text already. */
function isByteStream(value: object): value is StreamBody {
  return "pipe" in value && typeof value.pipe === "function" && Symbol.asyncIterator in value;
}

/** An async iterable, or the iterator that a generator returns; plain iterables such as arrays are data. */
function isIterator(value: object): value is AsyncIterable<unknown> | Iterable<unknown> {
  if (Symbol.asyncIterator in value) return true;
  return Symbol.iterator in value && "next" in value && typeof value.next === "function";
}
