/** An object with a deadline. */
export interface Timed {
  /** Milliseconds by the clock of the deadlines. */
  readonly expiresAt: number;
  /** Called once, at `expiresAt` or later. */
  onDeadline(): void;
  /** State of the deadlines: the place of this object; -1 without one. */
  deadlinePlace: number;
}

/** The time between two looks at all deadlines, and the longest delay of one. */
const TICK_MS = 5;
/** Node's longest timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The deadlines of pending calls, in no order, with one timer for the earliest. A later call usually has a later deadline, so
 * few calls set the timer.
 *
 * The calls are in an array, and not in sets: a set that grows or shrinks leaves its old table behind, which refers to its
 * former members and to the next table. Tables that the garbage collector had moved to the old generation kept half of all
 * finished calls alive.
 */
export class Deadlines {
  readonly #clock: () => number;
  readonly #calls: (Timed | undefined)[] = [];
  #times = new Float64Array(64);
  #count = 0;
  /** When the timer fires; Infinity without a timer. */
  #nextLook = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /** @param clock monotonic, in milliseconds */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  add(timed: Timed): void {
    const { expiresAt } = timed;
    const place = this.#count++;
    if (place === this.#times.length) {
      const times = new Float64Array(2 * place);
      times.set(this.#times);
      this.#times = times;
    }
    this.#times[place] = expiresAt;
    this.#calls[place] = timed;
    timed.deadlinePlace = place;
    if (expiresAt < this.#nextLook) this.#lookAt(expiresAt);
  }

  /** The last call takes the place. */
  remove(timed: Timed): void {
    const place = timed.deadlinePlace;
    if (place < 0) return;
    const last = --this.#count;
    const moved = this.#calls[last]!;
    this.#calls[place] = moved;
    this.#times[place] = this.#times[last]!;
    moved.deadlinePlace = place;
    this.#calls[last] = undefined;
    timed.deadlinePlace = -1;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#nextLook = Number.POSITIVE_INFINITY;
  }

  #lookAt(time: number): void {
    const now = this.#clock();
    const delay = Math.min(MAX_TIMER_MS, Math.max(TICK_MS, Math.ceil(time - now)));
    if (now + delay >= this.#nextLook) return;
    this.#nextLook = now + delay;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), delay);
    // The sockets of the calls keep the process alive.
    this.#timer.unref();
  }

  #look(): void {
    this.#nextLook = Number.POSITIVE_INFINITY;
    const now = this.#clock();
    let next = Number.POSITIVE_INFINITY;
    // From the end, because a removal moves the last call, which this loop has then seen. A deadline may end other calls.
    for (let place = this.#count - 1; place >= 0; place--) {
      if (place >= this.#count) continue;
      const time = this.#times[place]!;
      if (time > now) next = Math.min(next, time);
      else {
        const timed = this.#calls[place]!;
        this.remove(timed);
        timed.onDeadline();
      }
    }
    if (next < this.#nextLook) this.#lookAt(next);
  }
}
