/** One line of the log. */
export interface AccessLogEntry {
  /** The time at which the answer ended: ISO 8601. */
  readonly time: string;
  /** The request's id, with the option `id`. */
  readonly id?: string;
  /** The method of the request. */
  readonly method: string;
  /** The path as sent. With the option `query`, the query too. */
  readonly path: string;
  /** The path of the class that served the request. */
  readonly route?: string;
  /** The status of the answer. */
  readonly status: number;
  /** Milliseconds from the request's arrival to the end of its answer. */
  readonly duration: number;
  /** Bytes of the body that were passed to the server. */
  readonly bytes: number;
  /** The client's address; see `trustProxy`. */
  readonly from?: string;
  /** True if the answer was cut off. */
  readonly incomplete?: true;
  readonly [name: string]: unknown;
}

/** The data of an answer for its line. */
export interface AccessRecord {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly id: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly route: string | undefined;
  readonly status: number;
  readonly duration: number;
  readonly bytes: number;
  readonly from: string | undefined;
  readonly complete: boolean;
}

/** The record as an object, with only the members that it has, and with further ones. */
export function entryOf(
  record: AccessRecord,
  further: Readonly<Record<string, unknown>> | undefined,
): AccessLogEntry {
  const { id, route, from } = record;
  const entry: Record<string, unknown> = { time: timeText(record.time) };
  if (id !== undefined) entry.id = id;
  entry.method = record.method;
  entry.path = record.path;
  if (route !== undefined) entry.route = route;
  entry.status = record.status;
  entry.duration = Math.round(record.duration * 1000) / 1000;
  entry.bytes = record.bytes;
  if (from !== undefined) entry.from = from;
  if (!record.complete) entry.incomplete = true;
  return (further === undefined ? entry : Object.assign(entry, further)) as AccessLogEntry;
}

/** `000` to `999`. */
const MILLISECONDS = Array.from({ length: 1000 }, (_, at) => String(at).padStart(3, "0"));
let lastSecond = -1;
/** The last second, up to its point. */
let lastText = "";

/** ISO 8601. Formatting a date costs 5 µs in a server, so it happens once a second. */
export function timeText(time: number): string {
  const second = Math.floor(time / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastText = new Date(second * 1000).toISOString().slice(0, -4);
  }
  return `${lastText}${MILLISECONDS[time - second * 1000]}Z`;
}

/** Characters that terminals and log collectors act on. JSON itself escapes those below U+0020. */
const CONTROLS = /[\x7f-\x9f\u2028\u2029]/g;

function escaped(text: string): string {
  return text.replace(CONTROLS, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The JSON of an entry without the entry, and without `JSON.stringify`. */
export function recordLine(record: AccessRecord): string {
  const { time, id, method, path, route, status, duration, bytes, from, complete } = record;
  return (
    `{"time":"${timeText(time)}"${id === undefined ? "" : `,"id":${jsonText(id)}`}` +
    `,"method":${commonText(method)},"path":${jsonText(path)}` +
    `${route === undefined ? "" : `,"route":${commonText(route)}`},"status":${status}` +
    `,"duration":${milliseconds(duration)},"bytes":${bytes}` +
    `${from === undefined ? "" : `,"from":${jsonText(from)}`}${complete ? "" : ',"incomplete":true'}}`
  );
}

/** Text that JSON contains as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;

function jsonText(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : otherJson(text)!;
}

/** The JSON of methods and routes, which many lines have. Addresses of clients would fill the table. */
const COMMON = new Map<string, string>();
const MOST_COMMON = 1_000;

function commonText(text: string): string {
  let json = COMMON.get(text);
  if (json === undefined) {
    json = jsonText(text);
    if (COMMON.size < MOST_COMMON && text.length <= 100) COMMON.set(text, json);
  }
  return json;
}

/** `.001` to `.999`, without zeros at the end. */
const FRACTIONS = Array.from({ length: 1000 }, (_, at) => String(at / 1000).slice(1));

/** A duration with three decimals. Writing the integers apart costs a fifth of writing the number. */
function milliseconds(duration: number): string {
  const micros = Math.round(duration * 1000);
  return `${Math.floor(micros / 1000)}${FRACTIONS[micros % 1000]}`;
}

/** Half as long as `JSON.stringify` and its check for control characters: most values are plain text and numbers. */
export function jsonLine(entry: AccessLogEntry): string {
  let line = "";
  for (const name in entry) {
    const value = entry[name];
    const isPlain = Number.isFinite(value) || (typeof value === "string" && PLAIN.test(value));
    const text = isPlain ? (typeof value === "string" ? `"${value}"` : String(value)) : otherJson(value);
    if (text !== undefined)
      line += `${line === "" ? "{" : ","}"${PLAIN.test(name) ? name : otherName(name)}":${text}`;
  }
  return `${line}}`;
}

function otherJson(value: unknown): string | undefined {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? undefined : escaped(text);
}

function otherName(name: string): string {
  return otherJson(name)!.slice(1, -1);
}

export function textLine({
  time,
  method,
  path,
  route: _,
  status,
  duration,
  bytes,
  incomplete,
  ...rest
}: AccessLogEntry): string {
  const others = Object.entries(rest).map(([name, value]) => ` ${name}=${quoted(value)}`);
  const cut = incomplete === true ? " incomplete" : "";
  return escaped(
    `${time} ${word(method)} ${word(path)} ${status} ${duration}ms ${bytes}B${cut}${others.join("")}`,
  );
}

/** A text with spaces or quotes could look like further fields. */
function word(text: string): string {
  return /^[!#-~]+$/.test(text) ? text : JSON.stringify(text);
}

function quoted(value: unknown): string {
  return typeof value === "string" ? word(value) : (JSON.stringify(value) ?? "undefined");
}
