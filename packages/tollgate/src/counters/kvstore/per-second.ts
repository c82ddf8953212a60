import { type Count, type CounterStore, type CountRequest, HoldBack } from "../store.ts";
import { countAcross, type RefundListener } from "./across.ts";

/** Two instances: the second one counts windows of one second, the first one all others. Both count at the same time. */
export class PerSecondStore implements CounterStore {
  readonly kind = "kvstore";
  readonly #main: CounterStore;
  readonly #perSecond: CounterStore;
  readonly #onRefund: RefundListener | undefined;

  /** @param onRefund called after a refund of hits whose call the other instance refused */
  constructor(main: CounterStore, perSecond: CounterStore, onRefund?: RefundListener) {
    this.#main = main;
    this.#perSecond = perSecond;
    this.#onRefund = onRefund;
  }

  count(request: CountRequest): void | Promise<void> {
    const { counts } = request;
    let seconds = 0;
    for (const count of counts) if (isPerSecond(count)) seconds++;
    if (seconds === 0) return this.#main.count(request);
    if (seconds === counts.length) return this.#perSecond.count(request);
    const main = counts.filter((count) => !isPerSecond(count));
    const perSecond = counts.filter(isPerSecond);
    if (request.holdBack !== HoldBack.NEVER)
      return countAcross(
        request,
        [
          { counts: main, count: (part) => this.#main.count(part) },
          { counts: perSecond, count: (part) => this.#perSecond.count(part) },
        ],
        this.#onRefund,
      );
    return this.#both({ ...request, counts: main }, { ...request, counts: perSecond });
  }

  /** Waits for both instances before it reports a failure: afterwards nothing changes the counts. */
  async #both(main: CountRequest, perSecond: CountRequest): Promise<void> {
    const ends = await Promise.allSettled([
      (async () => this.#main.count(main))(),
      (async () => this.#perSecond.count(perSecond))(),
    ]);
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }

  async close(): Promise<void> {
    await Promise.all([this.#main.close(), this.#perSecond.close()]);
  }
}

function isPerSecond(count: Count): boolean {
  return count.windowSize === 1;
}
