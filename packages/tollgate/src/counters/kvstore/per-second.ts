import { type ReservationRequest, type ReservationStore, settleFrom } from "../reservations.ts";
import {
  type AcquireGroup,
  type AcquireRequest,
  type Count,
  type CounterStore,
  type CountRequest,
  HoldBack,
} from "../store.ts";
import { acquireAcross } from "./acquire-across.ts";
import { countAcross, type RefundListener } from "./across.ts";
import { settleAcross } from "./settle-across.ts";

/** Two instances: the second one counts windows of one second, the first one all others. Both count at the same time. */
export class PerSecondStore implements ReservationStore {
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
    return both(
      async () => this.#main.count({ ...request, counts: main }),
      async () => this.#perSecond.count({ ...request, counts: perSecond }),
    );
  }

  /** A list of limits is decided by the main instance, also if one of its windows is a second. */
  acquire(request: AcquireRequest): void | Promise<void> {
    const main = request.groups.filter((group) => !isGroupPerSecond(group));
    if (main.length === request.groups.length) return this.#main.acquire!(request);
    if (main.length === 0) return this.#perSecond.acquire!(request);
    const perSecond = request.groups.filter(isGroupPerSecond);
    if (request.holdBack !== HoldBack.NEVER)
      return acquireAcross(
        request,
        [
          { groups: main, acquire: (part) => this.#main.acquire!(part) },
          { groups: perSecond, acquire: (part) => this.#perSecond.acquire!(part) },
        ],
        this.#onRefund,
      );
    return both(
      async () => this.#main.acquire!({ ...request, groups: main }),
      async () => this.#perSecond.acquire!({ ...request, groups: perSecond }),
    );
  }

  /** Like `acquire`: lists are on the main instance. */
  settle(request: ReservationRequest): void | Promise<void> {
    const { groups } = request;
    const main = groups.filter((group) => !isGroupPerSecond(group));
    if (main.length === groups.length) return settleFrom(this.#main, request);
    if (main.length === 0) return settleFrom(this.#perSecond, request);
    return settleAcross(request, [
      { groups: main, settle: async (part) => settleFrom(this.#main, part) },
      { groups: groups.filter(isGroupPerSecond), settle: async (part) => settleFrom(this.#perSecond, part) },
    ]);
  }

  async close(): Promise<void> {
    await Promise.all([this.#main.close(), this.#perSecond.close()]);
  }
}

/** Waits for both instances before it reports a failure: afterwards nothing changes the counts. */
async function both(main: () => Promise<void>, perSecond: () => Promise<void>): Promise<void> {
  for (const end of await Promise.allSettled([main(), perSecond()]))
    if (end.status === "rejected") throw end.reason;
}

function isGroupPerSecond({ limits }: AcquireGroup): boolean {
  return limits.length === 1 && limits[0]!.windowSize === 1;
}

function isPerSecond(count: Count): boolean {
  return count.windowSize === 1;
}
