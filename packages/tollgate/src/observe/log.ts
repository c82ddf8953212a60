import { printable } from "../text/printable.ts";
import { type LineWriter, writerTo } from "./descriptor-writer.ts";
import { maskCredentials } from "./mask.ts";

/** Levels from most to least severe. */
export const logLevels = ["panic", "fatal", "error", "warn", "info", "debug", "trace"] as const;
/** The severity of a line. */
export type Level = (typeof logLevels)[number];

/** The level of a name in any case (`warning` is `warn`), or undefined. */
export function levelOfName(name: string): Level | undefined {
  const lower = name.toLowerCase();
  return lower === "warning" ? "warn" : logLevels.find((level) => level === lower);
}

/** A message, or a function that creates an expensive message. The function is called only if the level is enabled. */
export type Message = string | (() => string);

/** A log of lines. A message is cut after 16,384 characters. */
export interface Logger {
  /** The least severe level that is logged. */
  readonly level: Level;
  /** Changes the least severe level that is logged. */
  setLevel(level: Level): void;
  /** Whether a level is logged. Lets callers skip the work for a disabled level. */
  enabled(level: Level): boolean;
  /** Logs an error that ends the process. */
  fatal(message: Message): void;
  /** Logs an error. */
  error(message: Message): void;
  /** Logs a warning. */
  warn(message: Message): void;
  /** Logs an event of normal operation. */
  info(message: Message): void;
  /** Logs a detail for the search of a fault. */
  debug(message: Message): void;
  /** Logs a detail of each request. */
  trace(message: Message): void;
  /** Waits until buffered lines are written, at most `milliseconds`. */
  flush(milliseconds: number): Promise<void>;
}

export interface LogOptions {
  /** `LOG_LEVEL`. Default `warn`. */
  readonly level?: Level;
  /** `LOG_FORMAT`. Default `text`. */
  readonly format?: "text" | "json";
  /** Default: standard error, without blocking. */
  readonly writer?: LineWriter;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

/** Maximum characters of a message. Longer messages are cut, because they may quote requests. */
const MAX_MESSAGE = 16_384;

class LineLogger implements Logger {
  #threshold: number;
  readonly #json: boolean;
  readonly #writer: LineWriter;
  readonly #now: () => number;

  constructor(options: LogOptions) {
    this.#threshold = logLevels.indexOf(options.level ?? "warn");
    this.#json = options.format === "json";
    this.#now = options.now ?? Date.now;
    this.#writer =
      options.writer ??
      writerTo(2, {
        onRoom: (dropped) =>
          this.#line("warn", `${dropped} log lines were dropped: the reader of standard error was too slow`),
      });
  }

  get level(): Level {
    return logLevels[this.#threshold]!;
  }

  setLevel(level: Level): void {
    this.#threshold = logLevels.indexOf(level);
  }

  enabled(level: Level): boolean {
    return logLevels.indexOf(level) <= this.#threshold;
  }

  fatal(message: Message): void {
    this.#log(1, message);
  }

  error(message: Message): void {
    this.#log(2, message);
  }

  warn(message: Message): void {
    this.#log(3, message);
  }

  info(message: Message): void {
    this.#log(4, message);
  }

  debug(message: Message): void {
    this.#log(5, message);
  }

  trace(message: Message): void {
    this.#log(6, message);
  }

  flush(milliseconds: number): Promise<void> {
    return this.#writer.flush(milliseconds);
  }

  #log(level: number, message: Message): void {
    if (level > this.#threshold) return;
    this.#writer.write(this.#line(logLevels[level]!, typeof message === "function" ? message() : message));
  }

  #line(level: Level, message: string): string {
    const name = level === "warn" ? "warning" : level;
    const short = message.length > MAX_MESSAGE ? shorten(message) : message;
    const text = quote(printable(maskCredentials(short)));
    const time = new Date(this.#now()).toISOString();
    if (this.#json) return `{"@message":${text},"@timestamp":"${time}","level":"${name}"}\n`;
    return `time="${time.slice(0, 19)}Z" level=${name} msg=${text}\n`;
  }
}

/** Quotes as JSON does, and escapes characters that move a terminal's cursor or that some readers take as line ends. */
function quote(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function shorten(message: string): string {
  return `${message.slice(0, MAX_MESSAGE)}... (${message.length} characters)`;
}

/** Creates a logger that writes each event as one line, in one of two formats. */
export function createLogger(options: LogOptions = {}): Logger {
  return new LineLogger(options);
}

/** Writes Node's warnings to the log, in the log's format, instead of to standard error. Each thread calls it for itself. */
export function logWarnings(log: Logger): void {
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => log.warn(`Node: ${name}: ${message}`));
}
