import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import { Socket } from "node:net";

/** Writes lines to standard error or standard output, in order. Writes at once if the descriptor accepts them. */
export interface LineWriter {
  /** Takes whole lines with their line ends. Never blocks. */
  write(lines: string): void;
  /** Lines dropped because the reader did not read and the buffer was full. */
  readonly dropped: number;
  /** Waits until the buffer is written, at most `milliseconds`. */
  flush(milliseconds: number): Promise<void>;
}

export interface LineWriterOptions {
  /** Size of the buffer for a reader that does not read. Lines beyond it are dropped and counted. Default 1 MiB. */
  readonly maxHeldBytes?: number;
  /** Returns a line that reports the dropped lines. Written once there is room again. Default: no such line. */
  readonly onRoom?: (dropped: number) => string;
}

const RETRY_MS = 20;

/**
 * Node writes to pipes synchronously: a reader that stops (a stuck log shipper) would stop the whole service.
 * {@link writerTo} therefore opens a pipe or terminal a second time with O_NONBLOCK. Other processes that share the
 * pipe keep their own flags.
 */
class DescriptorWriter implements LineWriter {
  dropped = 0;
  readonly #descriptor: number;
  readonly #maxHeld: number;
  readonly #onRoom: ((dropped: number) => string) | undefined;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #unreported = 0;
  #retry: NodeJS.Timeout | undefined;
  #waiting: (() => void)[] = [];

  constructor(descriptor: number, options: LineWriterOptions) {
    this.#descriptor = descriptor;
    this.#maxHeld = options.maxHeldBytes ?? 1024 * 1024;
    this.#onRoom = options.onRoom;
  }

  write(lines: string): void {
    const bytes = Buffer.from(lines);
    if (this.#held.length > 0) {
      this.#hold(bytes);
      return;
    }
    const written = this.#tryWrite(bytes);
    if (written < bytes.length) this.#hold(bytes.subarray(written), written > 0);
  }

  async flush(milliseconds: number): Promise<void> {
    if (this.#held.length === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Returns the bytes written. Errors other than EAGAIN (closed pipe, full disk) count as written: the lines are lost. */
  #tryWrite(bytes: Buffer): number {
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.#descriptor, bytes, written);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EAGAIN") return bytes.length;
    }
    return written;
  }

  #hold(bytes: Buffer, begun = false): void {
    // A line that is partly written must be completed, even beyond the bound.
    if (!begun && this.#heldBytes + bytes.length > this.#maxHeld) {
      const lines = bytes.reduce((count, byte) => count + (byte === 0x0a ? 1 : 0), 0);
      this.dropped += lines;
      this.#unreported += lines;
      return;
    }
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    this.#retry ??= setTimeout(() => this.#drain(), RETRY_MS).unref();
  }

  #drain(): void {
    this.#retry = undefined;
    while (this.#held.length > 0) {
      const next = this.#held[0]!;
      const written = this.#tryWrite(next);
      this.#heldBytes -= written;
      if (written < next.length) {
        this.#held[0] = next.subarray(written);
        this.#retry = setTimeout(() => this.#drain(), RETRY_MS).unref();
        return;
      }
      this.#held.shift();
    }
    if (this.#unreported > 0 && this.#onRoom !== undefined) {
      const lines = this.#onRoom(this.#unreported);
      this.#unreported = 0;
      this.write(lines);
      if (this.#held.length > 0) return;
    }
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Sockets (journald's, or a Node parent's) cannot be opened a second time, but Node's sockets do not block. */
class SocketWriter implements LineWriter {
  dropped = 0;
  readonly #socket: Socket;
  readonly #maxHeld: number;
  #unreported = 0;

  constructor(descriptor: number, options: LineWriterOptions) {
    this.#maxHeld = options.maxHeldBytes ?? 1024 * 1024;
    this.#socket = new Socket({ fd: descriptor, readable: false, writable: true });
    this.#socket.unref();
    this.#socket.on("error", () => {});
    this.#socket.on("drain", () => {
      if (this.#unreported === 0 || options.onRoom === undefined) return;
      const lines = options.onRoom(this.#unreported);
      this.#unreported = 0;
      this.write(lines);
    });
  }

  write(lines: string): void {
    if (!this.#socket.writable) return;
    if (this.#socket.writableLength > this.#maxHeld) {
      const count = lines.split("\n").length - 1;
      this.dropped += count;
      this.#unreported += count;
    } else this.#socket.write(lines);
  }

  async flush(milliseconds: number): Promise<void> {
    if (this.#socket.writableLength === 0 || !this.#socket.writable) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      const done = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.#socket.once("drain", done);
      this.#socket.once("close", done);
      // Below the high-water mark Node emits no "drain", but it calls the callback of a write.
      this.#socket.write("", done);
    });
  }
}

/** Creates a writer for an open descriptor: 1 or 2. */
export function writerTo(descriptor: number, options: LineWriterOptions = {}): LineWriter {
  const kind = fstatSync(descriptor);
  if (kind.isSocket()) return new SocketWriter(descriptor, options);
  if (kind.isFIFO() || kind.isCharacterDevice()) {
    const reopened = reopen(descriptor);
    if (reopened !== undefined) return new DescriptorWriter(reopened, options);
    if (kind.isFIFO()) return new SocketWriter(descriptor, options);
  }
  return new DescriptorWriter(descriptor, options);
}

/** Opens the same pipe or terminal with flags of its own. Undefined if the system has no `/proc` or forbids it. */
function reopen(descriptor: number): number | undefined {
  try {
    const opened = openSync(
      `/proc/self/fd/${descriptor}`,
      constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY,
    );
    if (fstatSync(opened).ino === fstatSync(descriptor).ino) return opened;
    closeSync(opened);
  } catch {
    // The caller falls back to a socket writer.
  }
  return undefined;
}
