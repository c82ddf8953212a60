import { byteLength } from "./text.ts";

/** A body in pieces. The adapter calls `return()` when the client goes away. */
export type StreamBody = AsyncIterable<Uint8Array | string>;

/** One answer as an adapter sends it. A HEAD answer has its headers complete and `body` null. */
export interface Answer {
  /** The HTTP status. */
  status: number;
  /** Flat: name, value, name, value. Names are in lower case. `content-length` is present unless the body streams. */
  headers: string[];
  /** Text, bytes, a stream, or null for no body. */
  body: string | Uint8Array | StreamBody | null;
  /**
   * True if the body is known to be ASCII text. Its bytes are then the same in every encoding, and Latin-1 is the
   * fastest.
   */
  ascii?: boolean;
}

export const JSON_TYPE = "application/json; charset=utf-8";

/** The most common answer: JSON without further headers. */
export function jsonAnswer(status: number, text: string): Answer {
  const length = byteLength(text);
  return {
    status,
    headers: ["content-type", JSON_TYPE, "content-length", String(length)],
    body: text,
    ascii: length === text.length,
  };
}

/** 204, 205 and 304 carry no content (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5). */
export function isContentless(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

/** An answer without a body. Only HEAD and 304 may keep a length from the headers. */
export function emptyAnswer(status: number, headers: string[] = [], isHead = false): Answer {
  const at = indexOfHeader(headers, "content-length");
  if (status === 204) {
    if (at !== -1) headers.splice(at, 2);
  } else if (at === -1) {
    if (status !== 304) headers.push("content-length", "0");
  } else if (status !== 304 && !isHead) headers[at + 1] = "0";
  return { status, headers, body: null };
}

/** The first value of a header in a flat list. */
export function headerOf(headers: readonly string[], name: string): string | undefined {
  const at = indexOfHeader(headers, name);
  return at === -1 ? undefined : headers[at + 1];
}

export function setLength(headers: string[], length: number): void {
  const at = indexOfHeader(headers, "content-length");
  if (at === -1) headers.push("content-length", String(length));
  else headers[at + 1] = String(length);
}

/** Compares names only: a value can equal a header's name (`access-control-expose-headers: content-length`). */
function indexOfHeader(headers: readonly string[], name: string): number {
  for (let at = 0; at < headers.length; at += 2) if (headers[at] === name) return at;
  return -1;
}

export function isStream(body: Answer["body"]): body is StreamBody {
  return body !== null && typeof body === "object" && !(body instanceof Uint8Array);
}

/** The answer to HEAD: everything but the body. Releases a stream without reading it. */
export function withoutBody(answer: Answer): Answer {
  discard(answer.body);
  return { status: answer.status, headers: answer.headers, body: null };
}

/** Releases a body that will not be sent. */
export function discard(body: Answer["body"]): void {
  if (isStream(body)) void endStream(body);
}

/** Releases the resources of a stream. Ignores errors of the stream. */
export async function endStream(body: StreamBody): Promise<void> {
  try {
    await body[Symbol.asyncIterator]().return?.();
  } catch {
    // The answer is already decided.
  }
}
