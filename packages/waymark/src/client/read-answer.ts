import { reviveDates } from "./revive-dates.ts";
import { bytePieces, eventData, events, jsonLines, textPieces } from "./stream-items.ts";
import type { MethodEntry, Table } from "./types/table.ts";

/** The method whose answers are read, and its entry in the table. */
export interface Reading {
  /** The call, as errors name it: `GET /books`. */
  readonly call: string;
  readonly entry: MethodEntry | undefined;
  readonly table: Table | undefined;
  readonly revive: boolean;
}

/** The value of a 2xx response. Its content type says what it is. */
export async function readAnswer(response: Response, reading: Reading): Promise<unknown> {
  const { status, body, headers } = response;
  if (status === 204 || status === 205 || body === null) return undefined;
  const type = /^[^;\s]+/.exec(headers.get("content-type") ?? "")?.[0].toLowerCase();
  const revive = reviver(reading);
  // A stream without any item has no type.
  if (type === undefined || type === "application/x-ndjson") return mapped(jsonLines(body), revive);
  if (type === "text/event-stream") return mapped(eventData(body), revive);
  if (type.endsWith("json")) return revive(JSON.parse(await response.text()));
  const isText = type.startsWith("text/");
  if (isStream(response, reading)) return isText ? textPieces(body) : bytePieces(body);
  return isText ? response.text() : response.blob();
}

/** Whether text or bytes come from a stream. The server sends the length of anything else. */
function isStream({ headers }: Response, { table, entry, call }: Reading): boolean {
  if (table !== undefined && entry?.dates !== "unknown") return entry?.raw === true;
  if (headers.has("content-length")) return false;
  if (headers.has("content-encoding"))
    throw new TypeError(
      `${call}: a compressed response does not show whether it is a stream. Run "waymark types --table=FILE" and pass its table: client(url, { table })`,
    );
  return true;
}

function reviver({ revive, entry, table, call }: Reading): (value: unknown) => unknown {
  const dates = entry?.dates;
  if (!revive || dates === undefined) return (value) => value;
  if (dates === "unknown")
    throw new TypeError(
      `${call}: the table does not say where its dates are. Write the return type of the method, and run "waymark types" again`,
    );
  return (value) => reviveDates(value, dates, table!.types);
}

/** The events of a 2xx response, with their names and ids. */
export async function* readEvents(response: Response, reading: Reading): AsyncGenerator<unknown> {
  const type = response.headers.get("content-type") ?? "";
  if (response.body === null || !/^text\/event-stream\s*(;|$)/i.test(type))
    throw new TypeError(`${reading.call}: the answer is not a stream of events, but ${type || "empty"}`);
  const revive = reviver(reading);
  for await (const each of events(response.body)) yield { ...each, data: revive(each.data) };
}

async function* mapped(
  items: AsyncIterable<unknown>,
  map: (item: unknown) => unknown,
): AsyncGenerator<unknown> {
  for await (const item of items) yield map(item);
}
