import { ErrorCode } from "../frames/constants.ts";
import { STOP } from "../frames/reader.ts";

/** Ends a connection with an error (RFC 9113 section 5.4.1). All parts of a connection share one instance. */
export class ConnectionErrors {
  readonly #onError: (code: ErrorCode, message: string) => void;
  #isEnded = false;

  constructor(onError: (code: ErrorCode, message: string) => void) {
    this.#onError = onError;
  }

  /** True after the connection's last frame. The connection then ignores all frames that arrive. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  markEnded(): void {
    this.#isEnded = true;
  }

  /** Sends GOAWAY as the last frame. Returns `STOP` for the frame reader. */
  fail(code: ErrorCode, message: string): number {
    if (!this.#isEnded) this.#onError(code, message);
    return STOP;
  }

  protocolError(message: string): number {
    return this.fail(ErrorCode.PROTOCOL_ERROR, message);
  }

  frameSizeError(frame: string): number {
    return this.fail(ErrorCode.FRAME_SIZE_ERROR, `${frame} has an invalid length`);
  }

  flowControlError(message: string): number {
    return this.fail(ErrorCode.FLOW_CONTROL_ERROR, message);
  }

  compressionError(): number {
    return this.fail(ErrorCode.COMPRESSION_ERROR, "a header block cannot be decoded");
  }

  enhanceYourCalm(message: string): number {
    return this.fail(ErrorCode.ENHANCE_YOUR_CALM, message);
  }

  /** The position where reading continues: `next`, or `STOP` when the connection has ended. */
  after(next: number): number {
    return this.#isEnded ? STOP : next;
  }
}
