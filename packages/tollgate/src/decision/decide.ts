import { type CounterStore, countFor } from "../counters/store.ts";
import type { Counter, Statistics } from "../observe/statistics.ts";
import { requestOf } from "../protocol/decode-request.ts";
import {
  Code,
  type DescriptorStatus,
  type RateLimitRequest,
  type RateLimitResponse,
} from "../protocol/messages.ts";
import type { RequestPlaces } from "../protocol/scan-request.ts";
import type { RuleSet } from "../rules/rule.ts";
import { askStore, copyCounts } from "./decide-limits.ts";
import { DecidedText } from "./decided-text.ts";
import type { DecisionObserver } from "./decision-observer.ts";
import { type HeaderOptions, limitHeaders, nameOf } from "./headers.ts";
import { headersOfLimits } from "./headers-of-limits.ts";
import { LimitsScratch } from "./limits-scratch.ts";
import { dynamicMetadata } from "./metadata.ts";
import { overallCode } from "./overall.ts";
import { PendingDecision } from "./pending-decision.ts";
import { Preparer } from "./prepare.ts";
import type { Prepared, PreparedPart } from "./prepared.ts";
import type { ResolveOptions } from "./resolve.ts";
import { type Scratch, ScratchPool } from "./scratch.ts";
import { tallyLimits } from "./tally-limits.ts";

export interface DecisionOptions extends ResolveOptions {
  /** Undefined if nothing observes decisions. */
  readonly observer?: DecisionObserver | undefined;
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

type Decision = PendingDecision<Scratch<LimitsScratch>>;

/** Decides requests. Each request uses one rule set and one reading of the clock. */
export class Decider {
  readonly #options: DecisionOptions;
  readonly #store: CounterStore;
  readonly #preparer: Preparer;
  /** `more`: the objects for rules that have `limits`. */
  readonly #pool = new ScratchPool<LimitsScratch>();
  readonly #text = new DecidedText();
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
   * Decides a prepared request. Returns the response itself if the store counts synchronously. The response is valid until
   * the next turn of the event loop.
   * @param now milliseconds since the epoch
   * @param deadline of the caller, in milliseconds since the epoch; 0 for none
   * @param atOnce whether the caller reads the response before its next call, which reuses it: for many decisions in one
   *   turn of the event loop
   * @throws {StoreError} if the store could not count
   */
  decide(
    { request, parts }: Prepared,
    now: number,
    deadline: number,
    atOnce = false,
  ): RateLimitResponse | Promise<RateLimitResponse> {
    const scratch = this.#pool.take(parts.length);
    const answer = this.#run(scratch, request, undefined, parts, now, deadline);
    if (answer instanceof PendingDecision) return answer.promise();
    if (atOnce) this.#pool.give(scratch);
    else this.#pool.giveLater(scratch);
    return answer;
  }

  /**
   * Decides a message: like `prepare` and `decide`, but in place and without a promise. The next call of this method reuses
   * the response, so callers must write it out at once.
   * @throws {DecisionError | StoreError}
   */
  decideInPlace(
    places: RequestPlaces,
    ruleSet: RuleSet | undefined,
    now: number,
    deadline: number,
  ): RateLimitResponse | PendingDecision {
    const scratch = this.#pool.take(places.count);
    this.#preparer.prepareInPlace(places, ruleSet, scratch);
    const request = this.#options.dynamicMetadata ? requestOf(places) : undefined;
    const answer = this.#run(scratch, request, places, scratch.parts, now, deadline);
    if (!(answer instanceof PendingDecision)) this.#pool.give(scratch);
    return answer;
  }

  /**
   * Returns the scratch object to the pool only if the store answers later.
   * @param request needed for dynamic metadata only, or if there are no `places`
   */
  #run(
    scratch: Scratch<LimitsScratch>,
    request: RateLimitRequest | undefined,
    places: RequestPlaces | undefined,
    parts: readonly PreparedPart[],
    now: number,
    deadline: number,
  ): RateLimitResponse | PendingDecision {
    const { observer } = this.#options;
    if (observer?.active) observer.begin(scratch, now);
    scratch.pending ??= new PendingDecision(scratch, this);
    const decision = scratch.pending;
    decision.begin(request, places, parts, now);
    if (this.#ask(decision, deadline)) return this.#conclude(decision);
    this.#keepMessage(decision);
    return decision;
  }

  /** Asks the store. @returns whether the results are filled in. If not, the decision gets the end. */
  #ask(decision: Decision, deadline: number): boolean {
    const { scratch, parts, now } = decision;
    const store = this.#store;
    const readsPlaces = store.readsPlaces === true;
    const nowSeconds = Math.floor(now / 1000);
    if (hasLimits(parts)) {
      scratch.more ??= new LimitsScratch(scratch.parts.length);
      scratch.more.arrange(parts, this.#options, nowSeconds, scratch, readsPlaces);
      return askStore(scratch.more, store, now, deadline, decision);
    }
    scratch.arrange(parts, this.#options, nowSeconds, readsPlaces);
    const { request } = scratch;
    request.now = now;
    request.deadline = deadline;
    return request.counts.length === 0 || countFor(store, request, decision);
  }

  /** @internal */
  resume(decision: Decision, isPromised: boolean): RateLimitResponse {
    if (isPromised) this.#pool.giveLater(decision.scratch);
    else this.#pool.give(decision.scratch);
    return this.#conclude(decision);
  }

  #conclude(decision: Decision): RateLimitResponse {
    const { scratch, parts, now } = decision;
    const nowSeconds = Math.floor(now / 1000);
    const { headers } = this.#options;
    const limits = hasLimits(parts) ? scratch.more! : undefined;
    const counters = limits ?? scratch;
    if (limits !== undefined) {
      if (limits.isPlain) copyCounts(limits);
      tallyLimits(parts, limits, nowSeconds);
    } else scratch.tally(parts, nowSeconds);
    const code = this.#answer(decision, counters);
    const { statuses, response } = counters;
    if (headers !== undefined)
      response.responseHeadersToAdd =
        limits === undefined
          ? limitHeaders(
              headers,
              statuses,
              parts.map(({ resolution }) => nameOf(resolution)),
              code,
            )
          : headersOfLimits(headers, parts, limits, code);
    this.#observe(decision, counters, code);
    decision.end();
    return response;
  }

  /** Copies the message for the observer: the next call overwrites it. */
  #keepMessage(decision: Decision): void {
    const { scratch, places } = decision;
    decision.places = undefined;
    scratch.messageLength = 0;
    const { observer } = this.#options;
    if (places !== undefined && observer !== undefined && (scratch.weight > 0 || observer.recording))
      scratch.keepMessage(places);
  }

  #observe(
    { request, places, parts, scratch, now }: Decision,
    counters: Scratch<LimitsScratch> | LimitsScratch,
    code: Code,
  ): void {
    const { observer } = this.#options;
    if (!observer?.active) return;
    const { statuses } = counters;
    if (scratch.weight === 0 && !observer.recording && !isAnyRefused(statuses)) return;
    const isKept = request === undefined && places === undefined;
    if (isKept && scratch.messageLength === 0) return;
    this.#text.begin(request, places, scratch);
    observer.decided({ parts, statuses, code, scratch, text: this.#text, counters, now, isKept });
  }

  /** Fills in all but the headers. Returns the overall code. */
  #answer(
    { request, parts }: Decision,
    { statuses, response }: Pick<Scratch, "statuses" | "response">,
  ): Code {
    const options = this.#options;
    let code = overallCode(statuses, parts, options.quotaMode);
    if (code === Code.OVER_LIMIT && options.shadowMode) {
      code = Code.OK;
      this.#globalShadowMode.value++;
    }
    response.overallCode = code;
    if (options.dynamicMetadata && request !== undefined)
      response.dynamicMetadata = dynamicMetadata(request, parts, statuses);
    return code;
  }
}

function isAnyRefused(statuses: readonly DescriptorStatus[]): boolean {
  for (let index = 0; index < statuses.length; index++)
    if (statuses[index]!.code === Code.OVER_LIMIT) return true;
  return false;
}

/** Whether a rule has more than a number, a unit and a name. */
function hasLimits(parts: readonly PreparedPart[]): boolean {
  for (let index = 0; index < parts.length; index++)
    if (parts[index]!.resolution.limits !== undefined) return true;
  return false;
}
