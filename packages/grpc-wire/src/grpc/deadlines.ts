/** An object with a deadline. */
export interface Timed {
  /** Milliseconds by the wheel's clock. */
  readonly expiresAt: number;
  /** Called once, at `expiresAt` or later. */
  onDeadline(): void;
  /** State of the wheel: the slot of this object. */
  wheelSlot: number;
}

const SLOTS = 512;
const TICK_MS = 5;

/**
 * The deadlines of pending calls: a hashed timer wheel with one timer. An addition or a removal costs one set operation. A
 * timer for each call would cost several times as much.
 */
export class DeadlineWheel {
  readonly #clock: () => number;
  readonly #slots: (Set<Timed> | undefined)[] = new Array(SLOTS).fill(undefined);
  #count = 0;
  #lastTick = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param clock monotonic, in milliseconds */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  add(timed: Timed): void {
    if (this.#timer === undefined) this.#start();
    // At least one tick ahead: the wheel has passed all earlier ticks.
    const tick = Math.max(Math.ceil(timed.expiresAt / TICK_MS), this.#lastTick + 1);
    const slot = tick % SLOTS;
    this.#slots[slot] ??= new Set();
    this.#slots[slot].add(timed);
    timed.wheelSlot = slot;
    this.#count += 1;
  }

  remove(timed: Timed): void {
    if (timed.wheelSlot < 0) return;
    if (this.#slots[timed.wheelSlot]?.delete(timed)) this.#count -= 1;
    timed.wheelSlot = -1;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #start(): void {
    this.#lastTick = Math.floor(this.#clock() / TICK_MS);
    this.#timer = setInterval(() => this.#advance(this.#clock()), TICK_MS);
  }

  #advance(now: number): void {
    if (this.#count === 0) {
      this.stop();
      return;
    }
    const until = Math.floor(now / TICK_MS);
    const from = Math.max(this.#lastTick + 1, until - SLOTS + 1);
    this.#lastTick = until;
    for (let tick = from; tick <= until; tick++) {
      const held = this.#slots[tick % SLOTS];
      if (held === undefined) continue;
      // An entry with a later `expiresAt` waits for another round.
      for (const timed of held) {
        if (timed.expiresAt > now) continue;
        this.remove(timed);
        timed.onDeadline();
      }
    }
  }
}
