import { type Count, type CounterStore, Outcome } from "../counters/store.ts";
import type { Counter, Statistics } from "../observe/statistics.ts";
import {
  Code,
  type DescriptorStatus,
  type HeaderValue,
  type RateLimitRequest,
  type RateLimitResponse,
} from "../protocol/messages.ts";
import type { RuleSet } from "../rules/rule.ts";
import { type HeaderOptions, limitHeaders } from "./headers.ts";
import { dynamicMetadata } from "./metadata.ts";
import { overallCode } from "./overall.ts";
import { type Prepared, type PreparedPart, Preparer } from "./prepare.ts";
import { tally } from "./tally.ts";
import { windowStart } from "./window.ts";

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
const noHeaders: readonly HeaderValue[] = [];
const unlimited: DescriptorStatus = { ...passed, limitRemaining: UNLIMITED_REMAINING };

/** Decides requests: one rule set and one clock reading a request, counters in the store that it is handed. */
export class Decider {
  readonly #options: DecisionOptions;
  readonly #store: CounterStore;
  readonly #preparer: Preparer;
  readonly #globalShadowMode: Counter;

  constructor(options: DecisionOptions, statistics: Statistics, store: CounterStore) {
    this.#options = options;
    this.#store = store;
    this.#preparer = new Preparer(options, statistics);
    this.#globalShadowMode = statistics.counter("ratelimit.service.global_shadow_mode");
  }

  /**
   * Checks a request and finds the rules of its descriptors.
   * @param ruleSet the rules in force, undefined while none is loaded
   * @throws {DecisionError} for a bad request, or without rules
   */
  prepare(request: RateLimitRequest, ruleSet: RuleSet | undefined): Prepared {
    return this.#preparer.prepare(request, ruleSet);
  }

  /**
   * Decides a prepared request, at once where the store answers at once.
   * @param now milliseconds since the epoch
   * @param deadline milliseconds since the epoch after which nobody waits; 0 for none
   * @throws {StoreError} where the store could not count
   */
  decide(prepared: Prepared, now: number, deadline: number): RateLimitResponse | Promise<RateLimitResponse> {
    const { parts } = prepared;
    const nowSeconds = Math.floor(now / 1000);
    const counts: Count[] = [];
    for (let index = 0; index < parts.length; index++) {
      const count = begin(parts[index]!, nowSeconds);
      if (count !== undefined) counts.push(count);
    }
    if (counts.length > 0) {
      const allOrNothing = this.#options.stopIncrementing;
      const waiting = this.#store.count({ counts, allOrNothing, now, deadline });
      if (waiting !== undefined) return waiting.then(() => this.#conclude(prepared, counts, nowSeconds));
    }
    return this.#conclude(prepared, counts, nowSeconds);
  }

  #conclude({ request, parts }: Prepared, counts: readonly Count[], nowSeconds: number): RateLimitResponse {
    const options = this.#options;
    const statuses: DescriptorStatus[] = [];
    let counted = 0;
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index]!;
      if (part.rule === undefined || part.statistics === undefined) statuses.push(passed);
      else if (part.rule.unlimited) statuses.push(unlimited);
      else statuses.push(tally(counts[counted++]!, part.statistics, part, part.rule, nowSeconds));
    }
    let code = overallCode(statuses, parts, options.quotaMode);
    if (code === Code.OVER_LIMIT && options.shadowMode) {
      code = Code.OK;
      this.#globalShadowMode.value++;
    }
    return {
      overallCode: code,
      statuses,
      responseHeadersToAdd:
        options.headers === undefined
          ? noHeaders
          : limitHeaders(options.headers, statuses, parts.map(nameOf), code),
      dynamicMetadata: options.dynamicMetadata ? dynamicMetadata(request, parts, statuses) : undefined,
    };
  }
}

/** Counts what does not need the store, and says what to ask of it. */
function begin(part: PreparedPart, nowSeconds: number): Count | undefined {
  const { rule, statistics, hits } = part;
  if (rule === undefined || statistics === undefined) {
    if (part.domainNotFound !== undefined) part.domainNotFound.value++;
    return undefined;
  }
  if (!part.givesBack) statistics.totalHits += hits;
  if (rule.unlimited) {
    if (!part.givesBack) statistics.withinLimit += hits;
    return undefined;
  }
  return {
    stem: part.stem,
    windowStart: windowStart(nowSeconds, rule.unit),
    windowSize: part.windowSize,
    hits,
    limit: rule.requestsPerUnit,
    outcome: Outcome.COUNTED,
    after: 0,
  };
}

/** What a limit is called towards a user: its name, else its path. */
function nameOf({ rule }: PreparedPart): string {
  return rule === undefined ? "" : rule.name || [rule.domain, ...rule.path].join(".");
}
