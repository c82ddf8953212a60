/** The model of `ReservationStore.settle`: Maps of states and holds under a virtual clock, and `settleTogether` itself. */
import { keyOf, newCounterState } from "../../src/counters/acquire.ts";
import {
  changesNothing,
  type LedgerState,
  newLedgerState,
  REMEMBERED,
  type ReservationRequest,
  type ReservedLimit,
  Step,
  settleTogether,
  Verdict,
} from "../../src/counters/reservations.ts";
import type { AcquireRequest } from "../../src/counters/store.ts";
import { AcquireModel } from "./acquire-model.ts";

interface Hold {
  readonly amount: number;
  /** Milliseconds: when it stops counting, and when it is forgotten. */
  readonly until: number;
  readonly end: number;
  isOpen: boolean;
}

interface Ledger {
  readonly holds: Map<string, Hold>;
  readonly committed: Map<string, number>;
  expired: number;
}

export class ReservationModel {
  readonly counters = new AcquireModel();
  readonly #ledgers = new Map<string, Ledger>();

  settle(request: ReservationRequest): void {
    const { token, now, ttl } = request;
    const id = token?.join() ?? "";
    const used = new Map<string, { state: LedgerState; ledger: Ledger; limit: ReservedLimit }>();
    const states = request.groups.flatMap(({ limits }) =>
      limits.map((limit) => {
        const key = keyOf(limit);
        const known = used.get(key);
        if (known !== undefined) return known.state;
        const ledger = this.#ledger(limit.stem, now);
        const state = newLedgerState(newCounterState(this.counters.states.get(key)));
        const open = [...ledger.holds.values()].filter(({ isOpen }) => isOpen);
        const own = ledger.holds.get(id);
        Object.assign(state, {
          held: open.reduce((sum, { amount }) => sum + amount, 0),
          holds: open.length,
          own: own?.isOpen ? own.amount : 0,
          isKnown: own !== undefined,
          isCommitted: token !== undefined && ledger.committed.has(id),
          expired: request.step === Step.LOOK ? 0 : ledger.expired,
        });
        if (request.step !== Step.LOOK) ledger.expired = 0;
        used.set(key, { state, ledger, limit });
        return state;
      }),
    );
    settleTogether(request, states, now * 1000);
    if (changesNothing(request.step) || request.verdict !== Verdict.OK) return;
    for (const [key, { state, ledger, limit }] of used) {
      const { at, level, previous, adds, ends, changed } = state;
      if (changed) this.counters.states.set(key, { at, level, previous });
      const end = now + ttl;
      const windowEnd = (limit.windowStart + limit.windowSize) * 1000;
      const until = limit.algorithm.perWindow ? Math.min(end, windowEnd) : end;
      if (adds > 0) ledger.holds.set(id, { amount: adds, until, end, isOpen: true });
      if (!ends) continue;
      ledger.holds.delete(id);
      ledger.committed.set(id, now + REMEMBERED);
    }
  }

  /** A decision of `acquire` on limits that see holds. */
  heldOf(stem: string, now: number): number {
    const open = [...this.#ledger(stem, now).holds.values()].filter(({ isOpen }) => isOpen);
    return open.reduce((sum, { amount }) => sum + amount, 0);
  }

  acquire(request: AcquireRequest): void {
    this.counters.acquire(request, (limit) =>
      limit.reservations === true ? this.heldOf(limit.stem, request.now) : 0,
    );
  }

  #ledger(stem: string, now: number): Ledger {
    const known = this.#ledgers.get(stem);
    const ledger = known ?? { holds: new Map(), committed: new Map(), expired: 0 };
    if (known === undefined) this.#ledgers.set(stem, ledger);
    for (const [id, hold] of ledger.holds) {
      if (hold.isOpen && hold.until <= now) {
        hold.isOpen = false;
        ledger.expired += hold.amount;
      }
      if (hold.end <= now) ledger.holds.delete(id);
    }
    for (const [id, end] of ledger.committed) if (end <= now) ledger.committed.delete(id);
    return ledger;
  }
}
