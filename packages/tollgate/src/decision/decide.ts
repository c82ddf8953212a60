import type { CounterStore } from "../counters/store.ts";
import type { Counter, Statistics } from "../observe/statistics.ts";
import { Code, type RateLimitRequest, type RateLimitResponse } from "../protocol/messages.ts";
import type { RuleSet } from "../rules/rule.ts";
import { askStore, newLimitsScratch } from "./decide-limits.ts";
import { type HeaderOptions, limitHeaders, nameOf } from "./headers.ts";
import { headersOfLimits } from "./headers-of-limits.ts";
import type { KeyFormat } from "./key-format.ts";
import { dynamicMetadata } from "./metadata.ts";
import { overallCode } from "./overall.ts";
import { Preparer } from "./prepare.ts";
import type { DecisionScratch, LimitsScratch, Prepared, PreparedPart } from "./prepared.ts";
import { newScratch, prepareScratch } from "./scratch.ts";
import { tally } from "./tally.ts";
import { tallyLimits } from "./tally-limits.ts";

export interface DecisionOptions {
  readonly keyFormat: KeyFormat;
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
  /** `LIMIT_RESPONSE_HEADERS_ENABLED` and the names; undefined if the headers are off. */
  readonly headers: HeaderOptions | undefined;
}

/** Decides requests. Each request uses one rule set and one reading of the clock. */
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
   * @param ruleSet the current rules; undefined before the first load
   * @throws {DecisionError} for a bad request, or without rules
   */
  prepare(request: RateLimitRequest, ruleSet: RuleSet | undefined): Prepared {
    return this.#preparer.prepare(request, ruleSet);
  }

  /**
   * Decides a prepared request. Returns the response itself if the store counts synchronously. The next decision of
   * the same cached request reuses that object, so callers must write it out before they return to the event loop.
   * @param now milliseconds since the epoch
   * @param deadline of the caller, in milliseconds since the epoch; 0 for none
   * @throws {StoreError} if the store could not count
   */
  decide(prepared: Prepared, now: number, deadline: number): RateLimitResponse | Promise<RateLimitResponse> {
    if (prepared.hasLimits) return this.#decideLimits(prepared, now, deadline);
    const nowSeconds = Math.floor(now / 1000);
    const scratch = prepared.scratch ?? newScratch(prepared.parts, this.#options);
    prepareScratch(prepared.parts, scratch, nowSeconds);
    if (scratch.counts.length > 0) {
      const { request } = scratch;
      request.now = now;
      request.deadline = deadline;
      const waiting = this.#store.count(request);
      if (waiting !== undefined) {
        // The scratch is in use until the store answers. Calls with the same request get another one meanwhile.
        prepared.scratch = undefined;
        return waiting.then(() => this.#conclude(prepared, scratch, nowSeconds));
      }
    }
    if (prepared.isKept) prepared.scratch = scratch;
    return this.#conclude(prepared, scratch, nowSeconds);
  }

  #decideLimits(
    prepared: Prepared,
    now: number,
    deadline: number,
  ): RateLimitResponse | Promise<RateLimitResponse> {
    const scratch = prepared.limitsScratch ?? newLimitsScratch(prepared.parts, this.#options);
    const waiting = askStore(prepared.parts, scratch, this.#store, now, deadline);
    if (waiting !== undefined) {
      prepared.limitsScratch = undefined;
      return waiting.then(() => this.#concludeLimits(prepared, scratch, now));
    }
    if (prepared.isKept) prepared.limitsScratch = scratch;
    return this.#concludeLimits(prepared, scratch, now);
  }

  #concludeLimits({ request, parts }: Prepared, scratch: LimitsScratch, now: number): RateLimitResponse {
    tallyLimits(parts, scratch, Math.floor(now / 1000));
    const { headers } = this.#options;
    const code = this.#answer(request, parts, scratch);
    if (headers !== undefined)
      scratch.response.responseHeadersToAdd = headersOfLimits(headers, parts, scratch, code);
    return scratch.response;
  }

  #conclude({ request, parts }: Prepared, scratch: DecisionScratch, nowSeconds: number): RateLimitResponse {
    const { counts, statuses, response } = scratch;
    let counted = 0;
    for (let index = 0; index < parts.length; index++) {
      const { rule, statistics } = parts[index]!;
      if (rule === undefined || statistics === undefined || rule.unlimited) continue;
      tally(counts[counted++]!, statistics, parts[index]!, rule, nowSeconds, statuses[index]!);
    }
    const { headers } = this.#options;
    const code = this.#answer(request, parts, scratch);
    if (headers !== undefined)
      response.responseHeadersToAdd = limitHeaders(headers, statuses, parts.map(nameOf), code);
    return response;
  }

  /** Fills in all but the headers. Returns the overall code. */
  #answer(
    request: RateLimitRequest,
    parts: readonly PreparedPart[],
    { statuses, response }: Pick<DecisionScratch, "statuses" | "response">,
  ): Code {
    const options = this.#options;
    let code = overallCode(statuses, parts, options.quotaMode);
    if (code === Code.OVER_LIMIT && options.shadowMode) {
      code = Code.OK;
      this.#globalShadowMode.value++;
    }
    response.overallCode = code;
    if (options.dynamicMetadata) response.dynamicMetadata = dynamicMetadata(request, parts, statuses);
    return code;
  }
}
