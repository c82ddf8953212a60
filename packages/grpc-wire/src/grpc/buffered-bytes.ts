import { ByteCount } from "../http2/byte-count.ts";
import { GrpcError, Status } from "../status.ts";

interface BufferLimits {
  readonly maxBufferedBytesPerConnection: number;
  readonly maxBufferedBytes: number;
}

/** Bytes of request messages that one connection makes the server hold. */
export class BufferedBytes {
  readonly #limits: BufferLimits;
  readonly #count: ByteCount;

  /** @param all the sum over all connections */
  constructor(limits: BufferLimits, all: ByteCount) {
    this.#limits = limits;
    this.#count = new ByteCount(all);
  }

  /** Counts `more` bytes. Returns an error, and counts nothing, when the limits do not allow it. */
  charge(more: number): GrpcError | undefined {
    const { maxBufferedBytesPerConnection, maxBufferedBytes } = this.#limits;
    if (
      this.#count.bytes + more > maxBufferedBytesPerConnection ||
      this.#count.total + more > maxBufferedBytes
    )
      return new GrpcError(Status.RESOURCE_EXHAUSTED, "too many unfinished requests are held already");
    this.#count.add(more);
    return undefined;
  }

  /** Counts a change that needs no permission. */
  add(change: number): void {
    this.#count.add(change);
  }
}
