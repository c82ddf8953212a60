/**
 * Decides requests with the code of the service, on counters in this process and at times that the caller chooses.
 * Nothing else of the service runs: no listener, no settings, no statistics.
 */
import { EmbeddedStore } from "../counters/embedded/embedded-store.ts";
import { Decider } from "../decision/decide.ts";
import { createKeyFormat } from "../decision/key-format.ts";
import type { Prepared } from "../decision/prepared.ts";
import type { RateLimitRequest, RateLimitResponse } from "../protocol/messages.ts";
import type { RuleSet } from "../rules/rule.ts";
import { noStatistics } from "./no-statistics.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** The settings of the service that change a decision. */
export interface SimulationSettings {
  /** `SHADOW_MODE` */
  readonly shadowMode: boolean;
  /** `QUOTA_MODE` */
  readonly quotaMode: boolean;
  /** `STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT` */
  readonly stopIncrementing: boolean;
}

/** The service's default. It changes statistics only. */
const NEAR_LIMIT_RATIO = 0.8;

export class Simulation {
  readonly clock: VirtualClock;
  readonly #ruleSet: RuleSet;
  readonly #store: EmbeddedStore;
  readonly #decider: Decider;

  /**
   * @param start milliseconds since the epoch
   * @param storeBytes the size of the store: see `EmbeddedStoreOptions`
   */
  constructor(ruleSet: RuleSet, settings: SimulationSettings, start: number, storeBytes: number) {
    const clock = new VirtualClock(start);
    this.clock = clock;
    this.#ruleSet = ruleSet;
    this.#store = EmbeddedStore.create({
      sizeInBytes: storeBytes,
      clock: () => clock.now,
      monotonic: () => clock.now,
      // Ended counters are dropped when a new one needs their space. A timer would follow the wall clock.
      reclaimInterval: 0,
    });
    const keyFormat = createKeyFormat({ format: "tollgate", prefix: "", backend: "embedded" });
    const options = { ...settings, keyFormat, nearLimitRatio: NEAR_LIMIT_RATIO };
    this.#decider = new Decider(
      { ...options, dynamicMetadata: false, headers: undefined },
      noStatistics,
      this.#store,
    );
  }

  /** Finds the rules of a request's descriptors. @throws {DecisionError} for a bad request */
  prepare(request: RateLimitRequest): Prepared {
    return this.#decider.prepare(request, this.#ruleSet);
  }

  /** Decides at the time of the clock. The next call reuses the response. */
  decide(prepared: Prepared): RateLimitResponse {
    const answer = this.#decider.decide(prepared, this.clock.now, 0, true);
    if (answer instanceof Promise)
      throw new TypeError("a simulated decision must not return a promise: use the embedded store");
    return answer;
  }

  /** Counters that the full store dropped before their window ended. Above 0, the results are not exact. */
  get evicted(): number {
    return this.#store.statistics().evicted;
  }
}
