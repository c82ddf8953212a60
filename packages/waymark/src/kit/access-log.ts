import type { Exchange } from "../controller/exchange.ts";
import type { Part } from "../controller/part.ts";
import type { RequestIds } from "./request-id.ts";

/** One line of the log. */
export interface AccessLogEntry {
  /** When the answer ended: ISO 8601. */
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

export interface AccessLogOptions {
  /** `json`, `text`, or a function that makes the line. Default `json`. */
  readonly format?: "json" | "text" | ((entry: AccessLogEntry) => string);
  /** Receives lines without their ends. Default: standard output, several times a second. */
  readonly write?: (line: string) => void;
  /** The part that gives requests their ids. */
  readonly id?: RequestIds;
  /** Logs the query, which can contain secrets. Default false. */
  readonly query?: boolean;
  /** True leaves a request out, such as a health check. */
  readonly skip?: (exchange: Exchange) => boolean;
  /** Further members of an entry, such as the user. */
  readonly extra?: (exchange: Exchange) => Readonly<Record<string, unknown>>;
}

/**
 * Writes a line for every answer when it has ended: errors, 404 and streams included.
 * @example
 * ```ts
 * import { Application } from "@tollway/waymark";
 * import { accessLog, requestId } from "@tollway/waymark/kit";
 *
 * const ids = requestId();
 * export const application = new Application({ use: [accessLog({ id: ids }), ids] });
 * ```
 */
export function accessLog(options: AccessLogOptions = {}): Part {
  const { skip } = options;
  const lines = options.write === undefined ? standardOutput() : undefined;
  const write = options.write ?? lines!.write;
  const line = lineOf(options);
  return {
    onEnd(exchange) {
      if (skip?.(exchange) === true) return;
      write(line(exchange));
    },
    ...(lines !== undefined && { onStop: lines.flush }),
  };
}

function lineOf(options: AccessLogOptions): (exchange: Exchange) => string {
  const { format = "json", extra } = options;
  if (format === "json" && extra === undefined) return (exchange) => plainJsonLine(exchange, options);
  const line = typeof format === "function" ? format : format === "json" ? jsonLine : textLine;
  return (exchange) => line(entryOf(exchange, options));
}

function entryOf(exchange: Exchange, { id, query = false, extra }: AccessLogOptions): AccessLogEntry {
  const { route, remoteAddress, method, status, bytes, complete } = exchange;
  const entry: Record<string, unknown> = { time: now() };
  if (id !== undefined) entry.id = id.of(exchange);
  entry.method = method;
  entry.path = query ? exchange.incoming.target : exchange.path;
  if (route !== undefined) entry.route = route;
  entry.status = status;
  entry.duration = Math.round(exchange.duration * 1000) / 1000;
  entry.bytes = bytes;
  if (remoteAddress !== undefined) entry.from = remoteAddress;
  if (!complete) entry.incomplete = true;
  return (extra === undefined ? entry : Object.assign(entry, extra(exchange))) as AccessLogEntry;
}

let lastTime = 0;
let lastText = "";

/** Formatting a date costs 0.3 µs, and many answers end in the same millisecond. */
function now(): string {
  const time = Date.now();
  if (time !== lastTime) {
    lastTime = time;
    lastText = new Date(time).toISOString();
  }
  return lastText;
}

/** Characters that terminals and log collectors act on. JSON itself escapes those below U+0020. */
const CONTROLS = /[\x7f-\x9f\u2028\u2029]/g;

function escaped(text: string): string {
  return text.replace(CONTROLS, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Text that JSON contains as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Half as long as `JSON.stringify` and its check for control characters: most values are plain text and numbers. */
function jsonLine(entry: AccessLogEntry): string {
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

/** The JSON of `entryOf` without the entry, which costs 0.5 of 0.8 µs. */
function plainJsonLine(exchange: Exchange, { id, query = false }: AccessLogOptions): string {
  const { route, remoteAddress, status, bytes, complete } = exchange;
  const path = query ? exchange.incoming.target : exchange.path;
  return (
    `{"time":"${now()}"${id === undefined ? "" : `,"id":${jsonText(id.of(exchange))}`}` +
    `,"method":${jsonText(exchange.method)},"path":${jsonText(path)}` +
    `${route === undefined ? "" : `,"route":${jsonText(route)}`},"status":${status}` +
    `,"duration":${milliseconds(exchange.duration)},"bytes":${bytes}` +
    `${remoteAddress === undefined ? "" : `,"from":${jsonText(remoteAddress)}`}${complete ? "" : ',"incomplete":true'}}`
  );
}

function jsonText(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : otherJson(text)!;
}

/** `.001` to `.999`, without zeros at the end. */
const FRACTIONS = Array.from({ length: 1000 }, (_, at) => String(at / 1000).slice(1));

/** A duration with three decimals. Writing the integers apart costs a fifth of writing the number. */
function milliseconds(duration: number): string {
  const micros = Math.round(duration * 1000);
  return `${Math.floor(micros / 1000)}${FRACTIONS[micros % 1000]}`;
}

function otherJson(value: unknown): string | undefined {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? undefined : escaped(text);
}

function otherName(name: string): string {
  return otherJson(name)!.slice(1, -1);
}

function textLine({
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

/** Milliseconds for which lines gather. One write for each turn of the event loop would cost 2 of 20 µs. */
const INTERVAL = 100;
/** Characters that are written at once. */
const LARGEST = 64 * 1024;

/** Gathers lines, and writes them before the process ends. What may end with its answer writes each at once. */
function standardOutput(): { write: (line: string) => void; flush: () => void } {
  const isServer = typeof globalThis.process?.once === "function" && !isWorker() && !isLambda();
  let text = "";
  const flush = () => {
    if (text === "") return;
    const lines = text;
    text = "";
    print(lines);
  };
  let isScheduled = false;
  const tick = () => {
    isScheduled = false;
    flush();
  };
  if (isServer) process.once("exit", flush);
  const write = (line: string) => {
    text = text === "" ? line : `${text}\n${line}`;
    if (!isServer || text.length > LARGEST) flush();
    else if (!isScheduled) {
      isScheduled = true;
      setTimeout(tick, INTERVAL).unref();
    }
  };
  return { write, flush };
}

/**
 * In Node, `console.log` also keeps its last thousand texts for a debugger. The standard output of a worker writes
 * `stdout: ` before each line.
 */
function print(lines: string): void {
  if (typeof globalThis.process?.stdout?.write === "function" && !isWorker())
    process.stdout.write(`${lines}\n`);
  else console.log(lines);
}

/** Lambda freezes a process after an answer, and ends it without notice. */
function isLambda(): boolean {
  return globalThis.process?.env?.AWS_LAMBDA_FUNCTION_NAME !== undefined;
}

function isWorker(): boolean {
  return globalThis.navigator?.userAgent === "Cloudflare-Workers";
}
