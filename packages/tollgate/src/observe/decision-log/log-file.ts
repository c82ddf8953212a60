import { type FileHandle, open, stat } from "node:fs/promises";
import type { LineWriter } from "../descriptor-writer.ts";
import type { Logger } from "../log.ts";
import { Throttle, withCount } from "../throttle.ts";

export interface LogFileOptions {
  readonly log: Logger;
  /** Bytes that wait for a slow disk. Further lines are dropped. Default 4 MiB. */
  readonly maxHeldBytes?: number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/** The lines may contain personal data. */
const MODE = 0o640;
/** A write takes at most so many bytes. */
const CHUNK = 1024 * 1024;
/** Milliseconds between two looks for a rotation. */
const LOOK_INTERVAL = 1000;

/**
 * Appends lines to a file without waiting for the disk. Rotation is left to the system: after a rename or a removal, the
 * next write opens the path again, and a truncated file (copytruncate) simply goes on from its start. Lines that
 * cannot be written are dropped and counted.
 */
export class LogFile implements LineWriter {
  dropped = 0;
  readonly #path: string;
  readonly #log: Logger;
  readonly #maxHeld: number;
  readonly #now: () => number;
  readonly #throttle: Throttle;
  #file: FileHandle | undefined;
  #looked: number;
  #queue: Buffer[] = [];
  #heldBytes = 0;
  #writing: Promise<void> | undefined;
  /** Whether the file may end within a line. */
  #torn = false;

  private constructor(path: string, file: FileHandle, options: LogFileOptions) {
    this.#path = path;
    this.#file = file;
    this.#log = options.log;
    this.#maxHeld = options.maxHeldBytes ?? 4 * 1024 * 1024;
    this.#now = options.now ?? (() => performance.now());
    this.#throttle = new Throttle(undefined, this.#now);
    this.#looked = this.#now();
  }

  /** Opens or creates the file. @throws a system error, or {@link NotARegularFileError} */
  static async open(path: string, options: LogFileOptions): Promise<LogFile> {
    return new LogFile(path, await openRegular(path), options);
  }

  write(lines: string): void {
    const bytes = Buffer.from(lines);
    if (this.#heldBytes + bytes.length > this.#maxHeld) {
      this.dropped += lineEnds(bytes);
      return;
    }
    this.#queue.push(bytes);
    this.#heldBytes += bytes.length;
    this.#writing ??= this.#writeAll();
  }

  async flush(milliseconds: number): Promise<void> {
    const limit = AbortSignal.timeout(Math.max(0, milliseconds));
    const late = new Promise<void>((resolve) => limit.addEventListener("abort", () => resolve()));
    await Promise.race([this.#writing, late]);
  }

  async close(milliseconds: number): Promise<void> {
    await this.flush(milliseconds);
    await this.#release();
  }

  /** Never rejects. */
  async #writeAll(): Promise<void> {
    while (this.#queue.length > 0) {
      const chunk = this.#takeChunk();
      let written = 0;
      try {
        const file = await this.#current();
        if (this.#torn) await file.write("\n");
        this.#torn = false;
        while (written < chunk.length)
          written += (await file.write(chunk, written, chunk.length - written)).bytesWritten;
      } catch (error) {
        this.dropped += lineEnds(chunk.subarray(written));
        this.#torn ||= written > 0 && chunk[written - 1] !== NEWLINE;
        const count = this.#throttle.hit();
        if (count !== undefined)
          this.#log.error(withCount(`cannot write the log of decisions: ${(error as Error).message}`, count));
        await this.#release();
      }
      this.#heldBytes -= chunk.length;
    }
    this.#writing = undefined;
  }

  #takeChunk(): Buffer {
    const chunk: Buffer[] = [];
    let size = 0;
    while (this.#queue.length > 0 && (size === 0 || size + this.#queue[0]!.length <= CHUNK)) {
      const next = this.#queue.shift()!;
      chunk.push(next);
      size += next.length;
    }
    return Buffer.concat(chunk, size);
  }

  /** The file that is at the path now. */
  async #current(): Promise<FileHandle> {
    if (this.#file !== undefined && this.#now() >= this.#looked + LOOK_INTERVAL) {
      this.#looked = this.#now();
      if (!(await isAt(this.#file, this.#path))) {
        await this.#release();
        this.#torn = false;
      }
    }
    this.#file ??= await openRegular(this.#path);
    return this.#file;
  }

  async #release(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => undefined);
  }
}

const NEWLINE = 0x0a;

/** `DECISION_LOG` names something else than a regular file. A pipe could block a thread of Node. */
export class NotARegularFileError extends Error {
  override readonly name = "NotARegularFileError";
  readonly code = "NOT_A_REGULAR_FILE";
}

async function openRegular(path: string): Promise<FileHandle> {
  // Opening a pipe would wait for its reader.
  const known = await stat(path).catch(() => undefined);
  if (known !== undefined && !known.isFile())
    throw new NotARegularFileError(`${path} is not a regular file; use a file, or stdout`);
  return open(path, "a", MODE);
}

async function isAt(file: FileHandle, path: string): Promise<boolean> {
  try {
    const [own, present] = await Promise.all([file.stat({ bigint: true }), stat(path, { bigint: true })]);
    return own.ino === present.ino && own.dev === present.dev;
  } catch {
    return false;
  }
}

function lineEnds(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}
