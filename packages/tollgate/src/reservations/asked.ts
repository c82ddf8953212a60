/** One call, with the limits of its descriptors. Calls reuse these objects. */
import { type ReservationRequest, Step, Verdict } from "../counters/reservations.ts";
import { LimitsScratch } from "../decision/limits-scratch.ts";
import type { Mutable, PreparedPart } from "../decision/prepared.ts";
import { type Scratch, ScratchPool } from "../decision/scratch.ts";

export class Asked {
  readonly scratch: Scratch;
  readonly limits: LimitsScratch;
  readonly request: Mutable<ReservationRequest>;
  /** One for each descriptor. */
  parts: readonly Mutable<PreparedPart>[];

  constructor(scratch: Scratch) {
    this.scratch = scratch;
    this.parts = scratch.parts;
    this.limits = new LimitsScratch(scratch.parts.length);
    this.request = {
      step: Step.CHECK,
      groups: this.limits.groups,
      token: undefined,
      ttl: 0,
      maxHolds: 0,
      now: 0,
      deadline: 0,
      verdict: Verdict.OK,
      released: false,
      repeated: false,
    };
  }
}

export class AskedPool {
  readonly #pool = new ScratchPool();
  readonly #asked = new WeakMap<Scratch, Asked>();

  take(descriptors: number): Asked {
    const scratch = this.#pool.take(descriptors);
    let asked = this.#asked.get(scratch);
    if (asked === undefined) {
      asked = new Asked(scratch);
      this.#asked.set(scratch, asked);
    }
    asked.parts = scratch.parts;
    return asked;
  }

  /** Returns the objects. The next call overwrites them. */
  give({ scratch }: Asked): void {
    this.#pool.give(scratch);
  }

  /** Returns them in the next turn of the event loop: their caller still writes the response. */
  giveLater({ scratch }: Asked): void {
    this.#pool.giveLater(scratch);
  }
}
