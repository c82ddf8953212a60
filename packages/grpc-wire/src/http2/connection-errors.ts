import { ErrorCode } from "../frames/constants.ts";

/** Ends a connection with an error (RFC 9113 section 5.4.1). All parts of a connection share one instance. */
export class ConnectionErrors {
  readonly #onError: (code: ErrorCode, message: string) => void;
  /** True after the connection's last frame. The connection then ignores all frames that arrive. */
  isEnded = false;

  constructor(onError: (code: ErrorCode, message: string) => void) {
    this.#onError = onError;
  }

  /** Sends GOAWAY as the last frame, and stops the frame reader. Returns no position: reading has ended. */
  fail(code: ErrorCode, message: string): number {
    if (!this.isEnded) this.#onError(code, message);
    return -1;
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
}
