/** The side that reset a stream. It decides how the server handles frames that still arrive. */
export const Closed = {
  /** Not remembered as reset. */
  UNKNOWN: 0,
  BY_US: 1,
  BY_PEER: 2,
} as const;

const REMEMBERED = 256;

/**
 * The most recently reset streams. The server ignores frames that were in flight when it reset their stream (RFC 9113
 * section 5.1, "closed"). A frame on a stream that both sides have ended is an error.
 */
export class ClosedStreams {
  #how: Map<number, number> | undefined;
  /** A stream below this id may have been forgotten. */
  #forgottenBelow = 0;

  add(id: number, how: number): void {
    this.#how ??= new Map();
    this.#how.set(id, how);
    if (this.#how.size <= REMEMBERED) return;
    const oldest = this.#how.keys().next().value!;
    this.#how.delete(oldest);
    this.#forgottenBelow = Math.max(this.#forgottenBelow, oldest + 1);
  }

  lookup(id: number): number {
    const how = this.#how?.get(id);
    if (how !== undefined) return how;
    return id < this.#forgottenBelow ? Closed.BY_US : Closed.UNKNOWN;
  }
}
