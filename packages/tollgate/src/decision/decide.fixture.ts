import { countTogether } from "../counters/count-together.ts";
import { type Count, type CounterStore, type CountRequest, Outcome } from "../counters/store.ts";
import {
  type Counter,
  type MetricKey,
  newRuleStatistics,
  type ReservationStatistics,
  type RuleStatistics,
  type Statistics,
} from "../observe/statistics.ts";
import { type Descriptor, type Entry, type RateLimitRequest, Unit } from "../protocol/messages.ts";
import { type Match, NEEDS_TEXT, type Rule, type RuleSet } from "../rules/rule.ts";
import type { DecisionOptions } from "./decide.ts";
import { createKeyFormat } from "./key-format.ts";

/** Counts exactly, in a plain map. For tests of the decision without a real store. */
export class MapStore implements CounterStore {
  readonly kind = "map";
  readonly counters = new Map<string, number>();
  /** If set, every count gets this outcome and nothing is counted. */
  outcome: Outcome | undefined;
  asked = 0;

  count(request: CountRequest): void {
    this.asked++;
    const looks = request.counts.map((count) => ({
      outcome: this.outcome ?? Outcome.COUNTED,
      after: this.#read(count),
    }));
    countTogether(request.counts, looks, request.holdBack);
    for (const count of request.counts)
      if (count.outcome === Outcome.COUNTED) this.counters.set(count.stem + count.windowStart, count.after);
  }

  async close(): Promise<void> {}

  #read(count: Count): number {
    return this.counters.get(count.stem + count.windowStart) ?? 0;
  }
}

export class MapStatistics implements Statistics {
  readonly rules = new Map<string, RuleStatistics>();
  readonly counters = new Map<string, Counter>();

  rule(key: MetricKey): RuleStatistics {
    const name = [key.domain, ...key.levels].join(".");
    let statistics = this.rules.get(name);
    if (statistics === undefined) {
      statistics = newRuleStatistics();
      this.rules.set(name, statistics);
    }
    return statistics;
  }
  reservationsOf(): ReservationStatistics {
    return { reserved: 0, released: 0, expired: 0, committed: 0 };
  }
  domainNotFound(domain: string): Counter {
    return this.counter(`ratelimit.service.rate_limit.${domain}.domain_not_found`);
  }
  counter(name: string): Counter {
    const counter = this.counters.get(name) ?? { value: 0 };
    this.counters.set(name, counter);
    return counter;
  }
  counterFrom(): void {}
  gauge(): void {}
  timer() {
    return { record() {} };
  }
}

export function rule(part: Partial<Rule> = {}): Rule {
  return {
    domain: "d",
    path: ["k"],
    requestsPerUnit: 10,
    unit: Unit.MINUTE,
    unlimited: false,
    shadowMode: false,
    quotaMode: false,
    name: "",
    replaces: [],
    metadata: undefined,
    detailedMetric: false,
    valueToMetric: false,
    shareThreshold: false,
    location: undefined,
    ...part,
  };
}

/** A rule set with the domain `d`. Matches descriptors of one entry by its key. */
export function ruleSet(rules: Record<string, Rule>, generation = 1): RuleSet {
  return {
    generation,
    domains: ["d"],
    hasDomain: (domain) => domain === "d",
    match(_domain: string, entries: readonly Entry[]): Match | undefined {
      const key = entries[0]?.key;
      if (entries.length !== 1 || key === undefined || !Object.hasOwn(rules, key)) return undefined;
      return {
        rule: rules[key]!,
        metricKey: { domain: "d", levels: [key] },
        metricFromRequest: false,
        sharedValues: undefined,
      };
    },
    inPlace: { domain: () => 0, node: () => NEEDS_TEXT },
    fixedMatch: () => null,
    rules: () => Object.values(rules),
  };
}

export function descriptor(key: string, part: Partial<Descriptor> = {}): Descriptor {
  return {
    entries: [{ key, value: "v" }],
    limit: undefined,
    hitsAddend: undefined,
    isNegativeHits: false,
    ...part,
  };
}

export function request(...descriptors: Descriptor[]): RateLimitRequest {
  return { domain: "d", descriptors, hitsAddend: 0 };
}

export const plainOptions: DecisionOptions = {
  keyFormat: createKeyFormat({ format: "tollgate", prefix: "", backend: "embedded" }),
  nearLimitRatio: 0.8,
  shadowMode: false,
  quotaMode: false,
  stopIncrementing: false,
  dynamicMetadata: false,
  headers: undefined,
};
