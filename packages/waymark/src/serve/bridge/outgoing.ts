import { Buffer } from "node:buffer";
import { type Answer, endStream, isStream } from "../../http/answer.ts";
import { answerFrame, cutFrame, PIECE_BYTES, pieceFrame, WINDOW } from "./frames.ts";

/** An answer to Python. Sends no faster than the client reads. */
export class Outgoing {
  readonly #exchange: number;
  readonly #write: (frame: Buffer) => void;
  readonly #report: (error: unknown) => void;
  #window = WINDOW;
  #closed = false;
  #source: AsyncIterator<Uint8Array | string> | undefined = undefined;
  #wake: (() => void) | undefined = undefined;

  constructor(exchange: number, write: (frame: Buffer) => void, report: (error: unknown) => void) {
    this.#exchange = exchange;
    this.#write = write;
    this.#report = report;
  }

  /** Sends the answer. Returns a promise only if it does not fit into one frame. The promise never rejects. */
  send({ status, headers, body }: Answer): Promise<void> | undefined {
    if (this.#closed) return isStream(body) ? endStream(body) : undefined;
    if (!isStream(body)) {
      const size = body === null ? 0 : typeof body === "string" ? Buffer.byteLength(body) : body.length;
      if (size <= PIECE_BYTES) {
        this.#write(answerFrame(this.#exchange, status, headers, body ?? "", true));
        return undefined;
      }
    }
    this.#write(answerFrame(this.#exchange, status, headers, "", false));
    if (isStream(body)) return this.#stream(body[Symbol.asyncIterator]());
    return this.#whole(typeof body === "string" ? Buffer.from(body) : body!);
  }

  /** Handles a CREDIT frame. */
  credit(size: number): void {
    this.#window += size;
    this.#wake?.();
  }

  /** The answer is no longer needed. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#wake?.();
    void Promise.resolve(this.#source?.return?.()).catch(() => undefined);
  }

  async #whole(body: Uint8Array): Promise<void> {
    await this.#pieces(body, true);
  }

  async #stream(source: AsyncIterator<Uint8Array | string>): Promise<void> {
    this.#source = source;
    try {
      while (!this.#closed) {
        const step = await source.next();
        if (this.#closed) return;
        if (step.done === true) {
          this.#write(pieceFrame(this.#exchange, new Uint8Array(), true));
          return;
        }
        await this.#pieces(typeof step.value === "string" ? Buffer.from(step.value) : step.value, false);
      }
    } catch (error) {
      if (this.#closed) return;
      this.#report(error);
      this.#write(cutFrame(this.#exchange));
    }
  }

  async #pieces(bytes: Uint8Array, last: boolean): Promise<void> {
    let at = 0;
    // An empty piece sends the head.
    do {
      while (this.#window <= 0 && !this.#closed)
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      if (this.#closed) return;
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      this.#window -= piece.length;
      this.#write(pieceFrame(this.#exchange, piece, last && at + PIECE_BYTES >= bytes.length));
      at += PIECE_BYTES;
    } while (at < bytes.length && !this.#closed);
  }
}
