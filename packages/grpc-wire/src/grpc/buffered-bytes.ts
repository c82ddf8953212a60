import { ByteCount } from "../http2/byte-count.ts";
import { GrpcError, Status } from "../status.ts";

interface BufferLimits {
  readonly maxBufferedBytesPerConnection: number;
  readonly maxBufferedBytes: number;
}

/** Counts the bytes of request messages that the server holds for one connection. */
export class BufferedBytes {
  readonly #limits: BufferLimits;
  readonly #count: ByteCount;

  /** @param all the total of all connections */
  constructor(limits: BufferLimits, all: ByteCount) {
    this.#limits = limits;
    this.#count = new ByteCount(all);
  }

  /** Counts `more` bytes. Above a limit, returns an error and counts nothing. */
  charge(more: number): GrpcError | undefined {
    const { maxBufferedBytesPerConnection, maxBufferedBytes } = this.#limits;
    if (
      this.#count.bytes + more > maxBufferedBytesPerConnection ||
      this.#count.total + more > maxBufferedBytes
    )
      return new GrpcError(
        Status.RESOURCE_EXHAUSTED,
        "the server already holds too many unfinished requests",
      );
    this.#count.add(more);
    return undefined;
  }

  /** Counts a change without a check of the limits. */
  add(change: number): void {
    this.#count.add(change);
  }
}
