/** Milliseconds for which lines gather. One write for each turn of the event loop would cost 2 of 20 µs. */
const INTERVAL = 100;
/** Lines that are written at once. */
const MOST_LINES = 256;
/** Characters that are written at once. */
const MOST_CHARACTERS = 64 * 1024;
/** Characters that wait for a reader that does not read. Further lines are dropped. */
const MOST_WAITING = 1024 * 1024;
/** Milliseconds for which a stop waits for a reader. */
const STOP_TIME = 1_000;

/** Lines for standard output that are written together. */
export interface LineOutput<Entry> {
  /** Takes the entry of one line. Never blocks, never throws. */
  write(entry: Entry): void;
  /** Writes all lines. The promise resolves when the reader has taken them, after a second at the latest. */
  flush(): Promise<void> | undefined;
  /** Lines that were not written, because the reader did not read or the write failed. */
  readonly dropped: number;
}

/** How entries become lines. */
export interface LineFormat<Entry> {
  /** The line of an entry, without its end. */
  readonly line: (entry: Entry) => string;
  /** Characters that an entry holds. */
  readonly size: (entry: Entry) => number;
  /** The line that reports dropped lines. It precedes the next line. */
  readonly gap?: ((dropped: number) => string) | undefined;
}

/** Writes the lines that still wait when the process ends. */
const unfinished = new Set<() => void>();
let isPrepared = false;

/** A failed write must not end the process. */
function prepare(): void {
  if (isPrepared) return;
  isPrepared = true;
  process.once("exit", () => {
    for (const flush of unfinished) flush();
  });
  process.stdout?.on?.("error", () => undefined);
}

/**
 * Makes the lines of many entries together, while their code is in the processor's caches: saves 2 % of a request's CPU.
 * A process that may end with its answer writes each line at once.
 */
export function standardOutput<Entry>({ line, size, gap }: LineFormat<Entry>): LineOutput<Entry> {
  const isProcess = typeof globalThis.process?.once === "function" && !isWorker();
  const gathers = isProcess && !isLambda();
  let entries: Entry[] = [];
  let held = 0;
  let dropped = 0;
  let unreported = 0;
  let isScheduled = false;
  const drop = (count: number) => {
    dropped += count;
    unreported += count;
  };
  const flush = () => {
    if (entries.length === 0) return;
    const taken = entries;
    entries = [];
    held = 0;
    if (isStalled()) {
      drop(taken.length);
      return;
    }
    const lines = taken.map(line).join("\n");
    const report = unreported > 0 && gap !== undefined ? `${gap(unreported)}\n` : "";
    unreported = 0;
    print(report + lines, () => drop(taken.length));
  };
  const tick = () => {
    isScheduled = false;
    unfinished.delete(flush);
    flush();
  };
  return {
    get dropped() {
      return dropped;
    },
    write(entry) {
      if (isProcess) prepare();
      entries.push(entry);
      held += size(entry);
      if (!gathers || entries.length === MOST_LINES || held > MOST_CHARACTERS) flush();
      else if (!isScheduled) {
        isScheduled = true;
        unfinished.add(flush);
        setTimeout(tick, INTERVAL).unref();
      }
    },
    flush() {
      flush();
      return written();
    },
  };
}

/** The standard output of a worker writes `stdout: ` before each line. */
function stdoutStream(): NodeJS.WriteStream | undefined {
  const stdout = isWorker() ? undefined : globalThis.process?.stdout;
  return typeof stdout?.write === "function" ? stdout : undefined;
}

function isStalled(): boolean {
  return (stdoutStream()?.writableLength ?? 0) > MOST_WAITING;
}

/** In Node, `console.log` also keeps its last thousand texts for a debugger. */
function print(lines: string, failed: () => void): void {
  const stdout = stdoutStream();
  if (stdout === undefined) console.log(lines);
  else
    stdout.write(`${lines}\n`, (error) => {
      if (error) failed();
    });
}

function written(): Promise<void> | undefined {
  const stdout = stdoutStream();
  if (stdout === undefined || !(stdout.writableLength > 0)) return undefined;
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, STOP_TIME);
    stdout.write("", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Lambda freezes a process after an answer, and ends it without notice. */
function isLambda(): boolean {
  return globalThis.process?.env?.AWS_LAMBDA_FUNCTION_NAME !== undefined;
}

function isWorker(): boolean {
  return globalThis.navigator?.userAgent === "Cloudflare-Workers";
}
