/** Administration of two instances. The first one has the records, and all counters but those of single seconds. */
import type {
  AdminRecords,
  CounterAdmin,
  CounterPlace,
  CounterSearch,
  FoundCounters,
  Grant,
} from "../counter-admin.ts";

/** Begins the `next` of a page of the second instance. */
const SECOND = "s";

export class PerSecondAdmin implements CounterAdmin {
  readonly #main: CounterAdmin;
  readonly #perSecond: CounterAdmin;

  constructor(main: CounterAdmin, perSecond: CounterAdmin) {
    this.#main = main;
    this.#perSecond = perSecond;
  }

  get records(): AdminRecords | undefined {
    return this.#main.records;
  }

  reset(places: readonly CounterPlace[]): Promise<void> {
    const isPerSecond = places.length === 1 && places[0]!.windowSize === 1;
    return (isPerSecond ? this.#perSecond : this.#main).reset(places);
  }

  grant(grant: Grant): Promise<void> {
    const isPerSecond = !grant.isListed && grant.limit.windowSize === 1;
    return (isPerSecond ? this.#perSecond : this.#main).grant(grant);
  }

  async search(search: CounterSearch): Promise<FoundCounters> {
    if (search.from.startsWith(SECOND)) return this.#second({ ...search, from: search.from.slice(1) });
    const page = await this.#main.search(search);
    return page.next === undefined ? { ...page, next: SECOND } : page;
  }

  async close(): Promise<void> {
    await Promise.all([this.#main.close(), this.#perSecond.close()]);
  }

  async #second(search: CounterSearch): Promise<FoundCounters> {
    const page = await this.#perSecond.search(search);
    return page.next === undefined ? page : { ...page, next: SECOND + page.next };
  }
}
