import { Buffer } from "node:buffer";

/** A body that comes piece by piece; `return()` is called when the client goes away. */
export type StreamBody = AsyncIterable<Uint8Array | string>;

/** One answer as an adapter sends it. A HEAD answer has its headers complete and `body` null. */
export interface Answer {
  status: number;
  /** Flat: name, value, name, value; names in lower case. `content-length` is there unless the body streams. */
  headers: string[];
  body: string | Uint8Array | StreamBody | null;
  /** True where the body is known to be text of ASCII alone, which every encoding writes alike, and Latin-1 fastest. */
  ascii?: boolean;
}

export const JSON_TYPE = "application/json; charset=utf-8";

/** The commonest answer, with no further headers. */
export function jsonAnswer(status: number, text: string): Answer {
  const length = Buffer.byteLength(text);
  return {
    status,
    headers: ["content-type", JSON_TYPE, "content-length", String(length)],
    body: text,
    ascii: length === text.length,
  };
}

/** 204 and 304 carry neither a body nor a length (RFC 9110 sections 15.3.5 and 15.4.5). */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304 || status < 200;
}

export function emptyAnswer(status: number, headers: string[] = []): Answer {
  if (!isBodiless(status)) headers.push("content-length", "0");
  return { status, headers, body: null };
}

/** The first value of a header in a flat list. */
export function headerOf(headers: readonly string[], name: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2) if (headers[at] === name) return headers[at + 1];
  return undefined;
}

/** The answer to HEAD: everything but the body. A stream is ended before its first piece. */
export function withoutBody(answer: Answer): Answer {
  const { body } = answer;
  if (body !== null && typeof body === "object" && !(body instanceof Uint8Array)) {
    void endStream(body);
  }
  return { status: answer.status, headers: answer.headers, body: null };
}

/** Tells a stream that nobody will read it any further. Its own faults at that point concern nobody. */
export async function endStream(body: StreamBody): Promise<void> {
  try {
    await body[Symbol.asyncIterator]().return?.();
  } catch {
    // The answer is already decided.
  }
}
