const LINE_FEED = 0x0a;

/** Cuts a stream of bytes into lines. Keeps only an unfinished line, up to a maximum. */
export class LineSplitter {
  readonly #onLine: (text: string, bytes: number) => void;
  readonly #onTooLong: () => void;
  readonly #longest: number;
  #rest: Buffer[] = [];
  #restBytes = 0;
  /** Whether the present line is already too long, so that its bytes are skipped. */
  #skips = false;

  /**
   * @param longest bytes of a line; a longer one is skipped
   * @param onLine receives each line without its end
   */
  constructor(longest: number, onLine: (text: string, bytes: number) => void, onTooLong: () => void) {
    this.#longest = longest;
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, start);
      if (end < 0) break;
      this.#finish(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** Passes on the last line, if it has no end. */
  end(): void {
    if (this.#restBytes > 0 || this.#skips) this.#finish(Buffer.alloc(0));
  }

  #keep(part: Buffer): void {
    if (this.#skips) return;
    this.#restBytes += part.length;
    if (this.#restBytes > this.#longest) {
      this.#skips = true;
      this.#rest = [];
      this.#restBytes = 0;
    } else this.#rest.push(Buffer.from(part));
  }

  #finish(part: Buffer): void {
    const bytes = this.#restBytes + part.length;
    if (this.#skips || bytes > this.#longest) this.#onTooLong();
    else if (this.#restBytes === 0) this.#onLine(part.toString("utf8"), bytes);
    else this.#onLine(Buffer.concat([...this.#rest, part]).toString("utf8"), bytes);
    this.#rest = [];
    this.#restBytes = 0;
    this.#skips = false;
  }
}
