/** The model of `CounterStore.acquire`: a Map of states under a virtual clock, and the algorithms themselves. */
import { acquireTogether, keyOf, microsecondsOf, newCounterState } from "../../src/counters/acquire.ts";
import type { LimitState } from "../../src/counters/algorithms/algorithm.ts";
import type {
  AcquireLimit,
  AcquireRequest,
  Count,
  CounterStore,
  CountRequest,
  Outcome,
} from "../../src/counters/store.ts";
import { ModelStore } from "./model.ts";

export class AcquireModel implements CounterStore {
  readonly kind = "model";
  readonly states = new Map<string, LimitState>();
  readonly #counts = new ModelStore();

  /** Plain counts and `fixed_window` limits share their counters. */
  count(request: CountRequest): void {
    const { counters } = this.#counts;
    for (const [key, { level }] of this.states) counters.set(key, level);
    const results = this.#counts.count(request);
    request.counts.forEach((count: Count, index) => {
      [count.outcome, count.after] = results[index] as [Outcome, number];
    });
    for (const [key, level] of counters) {
      const known = this.states.get(key);
      if (known === undefined) this.states.set(key, { at: 0, level, previous: 0 });
      else known.level = level;
    }
  }

  /** @param heldOf the hits that open holds take of a limit */
  acquire(request: AcquireRequest, heldOf: (limit: AcquireLimit) => number = () => 0): void {
    const used = new Map<string, ReturnType<typeof newCounterState>>();
    const states = request.groups.flatMap(({ limits }) =>
      limits.map((limit) => {
        const key = keyOf(limit);
        const state = used.get(key) ?? newCounterState(this.states.get(key));
        state.held = heldOf(limit);
        used.set(key, state);
        return state;
      }),
    );
    acquireTogether(request, states, microsecondsOf(request));
    for (const [key, { changed, at, level, previous }] of used)
      if (changed) this.states.set(key, { at, level, previous });
  }

  grant(limit: AcquireLimit, hits: number, now: number): void {
    const key = keyOf(limit);
    const state = { at: 0, level: 0, previous: 0, ...this.states.get(key) };
    limit.algorithm.advance(state, limit, now * 1000);
    limit.algorithm.grant!(state, hits);
    this.states.set(key, state);
  }

  async close(): Promise<void> {}
}
