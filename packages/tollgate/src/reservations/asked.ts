/** One call, with the limits of its descriptors. Further calls reuse these objects. */
import { type ReservationRequest, Step, type Token, Verdict } from "../counters/reservations.ts";
import { LimitsScratch } from "../decision/limits-scratch.ts";
import { PendingAnswer } from "../decision/pending-answer.ts";
import type { Mutable, PreparedPart } from "../decision/prepared.ts";
import type { Scratch, ScratchPool } from "../decision/scratch.ts";
import { ID_WORDS } from "../protocol/reservation-id.ts";

export class Asked extends PendingAnswer<unknown> {
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
  readonly #pool: ScratchPool<Asked>;
  #conclude: (asked: Asked) => unknown = () => {};

  constructor(scratch: Scratch<Asked>, pool: ScratchPool<Asked>) {
    super();
    this.scratch = scratch;
    this.#pool = pool;
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

  /** Prepares it for a store that answers later. @param conclude makes the answer from the results of the store */
  waitFor<Answer>(conclude: (asked: Asked) => Answer): PendingAnswer<Answer> {
    this.#conclude = conclude;
    return this as unknown as PendingAnswer<Answer>;
  }

  protected override conclude(isPromised: boolean): unknown {
    if (isPromised) this.#pool.giveLater(this.scratch);
    else this.#pool.give(this.scratch);
    return this.#conclude(this);
  }
}
