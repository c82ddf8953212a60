import type { Exchange } from "../controller/exchange.ts";
import type { Part } from "../controller/part.ts";
import {
  type AccessLogEntry,
  type AccessRecord,
  entryOf,
  jsonLine,
  recordLine,
  textLine,
  timeText,
} from "./access-log-lines.ts";
import type { RequestIds } from "./request-id.ts";
import { type LineFormat, standardOutput } from "./standard-output.ts";

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

/** The part that {@link accessLog} returns. */
export interface AccessLog extends Part {
  /** Lines that standard output has not taken, because its reader does not read or the write failed. */
  readonly dropped: number;
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
export function accessLog(options: AccessLogOptions = {}): AccessLog {
  const { format = "json", id, query = false, extra } = options;
  const record = (exchange: Exchange) => recordOf(exchange, id, query);
  if (format === "json" && extra === undefined)
    return logOf(options, record, { line: recordLine, size: ({ path }) => path.length, gap: jsonGap });
  const line = typeof format === "function" ? format : format === "json" ? jsonLine : textLine;
  const gap = typeof format === "function" ? undefined : format === "json" ? jsonGap : textGap;
  return logOf(options, (exchange) => line(entryOf(record(exchange), extra?.(exchange))), {
    line: (made) => made,
    size: (made) => made.length,
    gap,
  });
}

/** Takes what the line needs when an answer ends. Standard output makes lines later, many at once. */
function logOf<Entry>(
  { skip, write }: AccessLogOptions,
  entry: (exchange: Exchange) => Entry,
  format: LineFormat<Entry>,
): AccessLog {
  const output = write === undefined ? standardOutput(format) : undefined;
  const take = output?.write ?? ((made: Entry) => write!(format.line(made)));
  return {
    get dropped() {
      return output?.dropped ?? 0;
    },
    onEnd(exchange) {
      if (skip?.(exchange) !== true) take(entry(exchange));
    },
    ...(output !== undefined && { onStop: output.flush }),
  };
}

function recordOf(exchange: Exchange, ids: RequestIds | undefined, query: boolean): AccessRecord {
  return {
    time: Date.now(),
    id: ids?.of(exchange),
    method: exchange.method,
    path: query ? exchange.incoming.target : exchange.path,
    route: exchange.route,
    status: exchange.status,
    duration: exchange.duration,
    bytes: exchange.bytes,
    from: exchange.remoteAddress,
    complete: exchange.complete,
  };
}

function jsonGap(dropped: number): string {
  return `{"time":"${timeText(Date.now())}","dropped":${dropped}}`;
}

function textGap(dropped: number): string {
  return `${timeText(Date.now())} dropped=${dropped}`;
}
