import type { ReceivedEvent } from "./types/answers.ts";

/** Characters of one item. A longer one is an error, so that a server cannot fill the memory. */
const LONGEST_ITEM = 16 * 1024 * 1024;

/** The pieces of a body. Ends the response when the loop over them ends early. */
async function* pieces(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

export async function* textPieces(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const piece of pieces(body)) {
    const text = decoder.decode(piece, { stream: true });
    if (text !== "") yield text;
  }
  const last = decoder.decode();
  if (last !== "") yield last;
}

export { pieces as bytePieces };

/** The complete lines of a text. `\r\n`, `\n` and, in event streams, `\r` end a line. */
async function* lines(body: ReadableStream<Uint8Array>, end: RegExp): AsyncGenerator<string> {
  let rest = "";
  for await (const text of textPieces(body)) {
    const found = (rest + text).split(end);
    rest = found.pop()!;
    yield* found;
    if (rest.length > LONGEST_ITEM)
      throw new RangeError(`an item of the stream exceeds ${LONGEST_ITEM} characters`);
  }
  yield rest;
}

/** The values of `application/x-ndjson`. */
export async function* jsonLines(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  for await (const line of lines(body, /\r?\n/)) if (line.trim() !== "") yield JSON.parse(line);
}

/** The data of server-sent events. */
export async function* eventData(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  for await (const { data } of events(body)) yield data;
}

/**
 * Server-sent events. The data is the JSON value, or the text if it is not JSON. An event without its end is dropped, and
 * so is one without data.
 */
export async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<ReceivedEvent<unknown>> {
  let data: string[] = [];
  let length = 0;
  let event = "";
  let id: string | undefined;
  // A `\r` at the end of a piece may be half of `\r\n`.
  for await (const line of lines(body, /\r\n|\n|\r(?!$)/)) {
    if (line === "") {
      if (data.length > 0) yield { data: dataOf(data.join("\n")), event: event || "message", id };
      data = [];
      length = 0;
      event = "";
      continue;
    }
    const [, name, value = ""] = /^([^:]*):? ?(.*)$/s.exec(line)!;
    if (name === "event") event = value;
    // It counts for the events that follow, too.
    if (name === "id" && !value.includes("\0")) id = value;
    if (name !== "data") continue;
    data.push(value);
    length += value.length;
    if (length > LONGEST_ITEM) throw new RangeError(`an event exceeds ${LONGEST_ITEM} characters`);
  }
}

function dataOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
