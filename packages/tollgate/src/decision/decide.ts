import { type Count, type CounterStore, Outcome } from "../counters/store.ts";
import type { Counter, Statistics } from "../observe/statistics.ts";
import {
  Code,
  type CurrentLimit,
  type Descriptor,
  type DescriptorStatus,
  type RateLimitRequest,
  type RateLimitResponse,
} from "../protocol/messages.ts";
import type { Rule, RuleSet } from "../rules/rule.ts";
import { DecisionError } from "./errors.ts";
import { type HeaderOptions, limitHeaders } from "./headers.ts";
import { hitsOf } from "./hits.ts";
import { dynamicMetadata } from "./metadata.ts";
import { overallCode } from "./overall.ts";
import { replaced } from "./replaces.ts";
import { ResolutionCache } from "./resolution-cache.ts";
import { type Resolution, resolve } from "./resolve.ts";
import { tally } from "./tally.ts";
import { secondsUntilReset, windowStart } from "./window.ts";

export interface DecisionOptions {
  /** `CACHE_KEY_PREFIX` */
  readonly cacheKeyPrefix: string;
  /** `NEAR_LIMIT_RATIO`, 0 to 1 */
  readonly nearLimitRatio: number;
  /** `SHADOW_MODE` */
  readonly shadowMode: boolean;
  /** `QUOTA_MODE` */
  readonly quotaMode: boolean;
  /** `STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT` */
  readonly stopIncrementing: boolean;
  /** `RESPONSE_DYNAMIC_METADATA` */
  readonly dynamicMetadata: boolean;
  /** `LIMIT_RESPONSE_HEADERS_ENABLED` and its names; undefined for none. */
  readonly headers: HeaderOptions | undefined;
}

/** The remaining hits that an `unlimited` rule answers: the greatest uint32. */
export const UNLIMITED_REMAINING = 0xffff_ffff;

const passed: DescriptorStatus = {
  code: Code.OK,
  currentLimit: undefined,
  limitRemaining: 0,
  durationUntilReset: 0,
};
const unlimited: DescriptorStatus = { ...passed, limitRemaining: UNLIMITED_REMAINING };

/** One request on its way through the store. */
interface Pending {
  readonly request: RateLimitRequest;
  readonly resolutions: readonly Resolution[];
  /** Per descriptor; undefined where nothing is counted. */
  readonly counts: readonly (Count | undefined)[];
  readonly nowSeconds: number;
}

/** Decides requests: one rule set and one clock reading a request, counters in the store that it is handed. */
export class Decider {
  readonly #options: DecisionOptions;
  readonly #statistics: Statistics;
  readonly #store: CounterStore;
  readonly #cache = new ResolutionCache(8192);
  readonly #limits = new WeakMap<Rule, CurrentLimit>();
  readonly #globalShadowMode: Counter;

  constructor(options: DecisionOptions, statistics: Statistics, store: CounterStore) {
    this.#options = options;
    this.#statistics = statistics;
    this.#store = store;
    this.#globalShadowMode = statistics.counter("ratelimit.service.global_shadow_mode");
  }

  /**
   * Decides one request, at once where the store answers at once.
   * @param ruleSet the rules in force, undefined while none is loaded
   * @param now milliseconds since the epoch
   * @param deadline milliseconds since the epoch after which nobody waits; 0 for none
   * @throws {DecisionError} for a bad request or without rules
   * @throws {StoreError} where the store could not count
   */
  decide(
    request: RateLimitRequest,
    ruleSet: RuleSet | undefined,
    now: number,
    deadline: number,
  ): RateLimitResponse | Promise<RateLimitResponse> {
    const pending = this.#begin(request, ruleSet, now);
    const counts = pending.counts.filter((count) => count !== undefined);
    if (counts.length > 0) {
      const allOrNothing = this.#options.stopIncrementing;
      const waiting = this.#store.count({ counts, allOrNothing, now, deadline });
      if (waiting !== undefined) return waiting.then(() => this.#conclude(pending));
    }
    return this.#conclude(pending);
  }

  /** The rule in force for a descriptor and its cache key, without counting anything. */
  resolve(ruleSet: RuleSet, domain: string, descriptor: Descriptor): Resolution {
    return resolve(ruleSet, this.#statistics, this.#options.cacheKeyPrefix, domain, descriptor);
  }

  #begin(request: RateLimitRequest, ruleSet: RuleSet | undefined, now: number): Pending {
    const { domain, descriptors } = request;
    if (domain === "") throw new DecisionError("INVALID_ARGUMENT", "rate limit domain must not be empty");
    if (descriptors.length === 0) {
      throw new DecisionError("INVALID_ARGUMENT", "rate limit descriptor list must not be empty");
    }
    if (ruleSet === undefined) throw new DecisionError("UNAVAILABLE", "no rate limit configuration loaded");
    const nowSeconds = Math.floor(now / 1000);
    const resolutions = this.#resolveAll(request, ruleSet);
    const counts = descriptors.map((descriptor, index) =>
      this.#countOf(request, descriptor, resolutions[index]!, nowSeconds),
    );
    return { request, resolutions, counts, nowSeconds };
  }

  #resolveAll(request: RateLimitRequest, ruleSet: RuleSet): Resolution[] {
    let replaces = false;
    const resolutions = request.descriptors.map((descriptor) => {
      const resolution = this.#resolveCached(ruleSet, request.domain, descriptor);
      if (resolution.rule !== undefined && resolution.rule.replaces.length > 0) replaces = true;
      return resolution;
    });
    if (!replaces) return resolutions;
    const dropped = replaced(resolutions.map(({ rule }) => rule));
    return resolutions.map((resolution, index) => (dropped[index] ? none : resolution));
  }

  #resolveCached(ruleSet: RuleSet, domain: string, descriptor: Descriptor): Resolution {
    const key = identity(domain, descriptor);
    const known = this.#cache.get(ruleSet.generation, key);
    if (known !== undefined) return known;
    const resolution = this.resolve(ruleSet, domain, descriptor);
    this.#cache.set(key, resolution);
    return resolution;
  }

  /** Counts what does not need the store, and says what to ask of it. */
  #countOf(
    request: RateLimitRequest,
    descriptor: Descriptor,
    resolution: Resolution,
    nowSeconds: number,
  ): Count | undefined {
    const { rule, statistics, domainNotFound } = resolution;
    if (rule === undefined || statistics === undefined) {
      if (domainNotFound !== undefined) domainNotFound.value++;
      return undefined;
    }
    const hits = hitsOf(descriptor, request);
    const givesBack = descriptor.isNegativeHits;
    if (!givesBack) statistics.totalHits += hits;
    if (rule.unlimited) {
      if (!givesBack) statistics.withinLimit += hits;
      return undefined;
    }
    return {
      stem: resolution.stem,
      windowStart: windowStart(nowSeconds, rule.unit),
      windowSize: resolution.windowSize,
      hits: givesBack && hits > 0 ? -hits : hits,
      limit: rule.requestsPerUnit,
      outcome: Outcome.COUNTED,
      after: 0,
    };
  }

  #conclude(pending: Pending): RateLimitResponse {
    const { request, resolutions, counts, nowSeconds } = pending;
    const options = this.#options;
    const statuses = resolutions.map((resolution, index) =>
      this.#statusOf(resolution, counts[index], nowSeconds),
    );
    let code = overallCode(statuses, resolutions, options.quotaMode);
    if (code === Code.OVER_LIMIT && options.shadowMode) {
      code = Code.OK;
      this.#globalShadowMode.value++;
    }
    return {
      overallCode: code,
      statuses,
      responseHeadersToAdd:
        options.headers === undefined
          ? []
          : limitHeaders(options.headers, statuses, resolutions.map(nameOf), code),
      dynamicMetadata: options.dynamicMetadata ? dynamicMetadata(request, resolutions, statuses) : undefined,
    };
  }

  #statusOf(
    { rule, statistics }: Resolution,
    count: Count | undefined,
    nowSeconds: number,
  ): DescriptorStatus {
    if (rule === undefined || statistics === undefined) return passed;
    if (count === undefined) return unlimited;
    return tally(count, statistics, {
      currentLimit: this.#currentLimit(rule),
      shadowMode: rule.shadowMode,
      nearLimitRatio: this.#options.nearLimitRatio,
      reset: secondsUntilReset(nowSeconds, rule.unit),
    });
  }

  #currentLimit(rule: Rule): CurrentLimit {
    let limit = this.#limits.get(rule);
    if (limit === undefined) {
      limit = { requestsPerUnit: rule.requestsPerUnit, unit: rule.unit, name: rule.name };
      this.#limits.set(rule, limit);
    }
    return limit;
  }
}

const none: Resolution = {
  rule: undefined,
  statistics: undefined,
  stem: "",
  windowSize: 0,
  domainNotFound: undefined,
};

/** A text that is the same for two descriptors only if they are the same: lengths before texts, since any text may hold any separator. */
function identity(domain: string, { entries, limit }: Descriptor): string {
  let key = `${domain.length}:${domain}`;
  for (const entry of entries) {
    key += `${entry.key.length}:${entry.key}${entry.value.length}:${entry.value}`;
  }
  return limit === undefined ? key : `${key}!${limit.requestsPerUnit}/${limit.unit}`;
}

/** What a limit is called towards a user: its name, else its path. */
function nameOf({ rule }: Resolution): string {
  return rule === undefined ? "" : rule.name || [rule.domain, ...rule.path].join(".");
}
