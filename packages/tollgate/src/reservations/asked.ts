/** One call, with the limits of its descriptors. Calls reuse these objects. */
import { type ReservationRequest, Step, type Token, Verdict } from "../counters/reservations.ts";
import { LimitsScratch } from "../decision/limits-scratch.ts";
import type { Mutable, PreparedPart } from "../decision/prepared.ts";
import type { Scratch } from "../decision/scratch.ts";
import { ID_WORDS } from "../protocol/reservation-id.ts";

export class Asked {
  readonly scratch: Scratch<Asked>;
  readonly limits: LimitsScratch;
  readonly request: Mutable<ReservationRequest>;
  /** One for each descriptor. */
  parts: readonly Mutable<PreparedPart>[];
  /** Memory for the id of the reservation, and for its token. */
  readonly id: number[] = new Array(ID_WORDS).fill(0);
  readonly token: Mutable<Token> = [0, 0, 0, 0];
  /** Hits that a reservation holds. */
  hold = 0;

  constructor(scratch: Scratch<Asked>) {
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
