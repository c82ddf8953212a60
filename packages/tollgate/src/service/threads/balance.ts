/**
 * Spreads the connections of gRPC over the threads. The kernel assigns each connection by a hash of its addresses, so of four
 * connections one thread may get two and another none. The threads of Node cannot pass sockets to each other. A caller that
 * receives GOAWAY opens a new connection, and the kernel assigns that one anew.
 */

export interface Release {
  /** The thread, as an index of the counts. */
  readonly thread: number;
  readonly connections: number;
}

/**
 * Chooses the connections to release: half of what the most crowded thread has above its share, if another thread has none or
 * if it has more than twice its share. Smaller differences remain, because a new connection costs a handshake.
 * @param counts connections of each thread
 */
export function chooseRelease(counts: readonly number[]): Release | undefined {
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  const isIdle = Math.min(...counts) === 0;
  const share = isIdle ? Math.max(1, Math.floor(mean)) : Math.ceil(mean);
  const most = Math.max(...counts);
  if (most <= (isIdle ? share : 2 * share)) return undefined;
  return { thread: counts.indexOf(most), connections: Math.ceil((most - share) / 2) };
}

/** Releases in a row. Callers that do not come back, or that always reach the same thread, cost no more than these. */
const MOST_RELEASES = 30;
/** Checks without a release after them. */
const REST = 60;

/** Decides at regular intervals, and only about a difference that two checks in a row have seen. */
export class Balancer {
  #sawDifference = false;
  #releases = 0;
  #rest = 0;

  /** @param counts connections of each thread, in the same order each time */
  check(counts: readonly number[]): Release | undefined {
    const release = chooseRelease(counts);
    const isLasting = this.#sawDifference;
    this.#sawDifference = release !== undefined;
    if (release === undefined) {
      this.#releases = 0;
      return undefined;
    }
    if (this.#rest > 0) {
      this.#rest--;
      return undefined;
    }
    // A connection that a probe opens for a moment is no reason to move another one.
    if (!isLasting) return undefined;
    if (++this.#releases <= MOST_RELEASES) return release;
    this.#releases = 0;
    this.#rest = REST;
    return undefined;
  }
}
