import { type CounterStore, StoreError } from "../counters/store.ts";
import type { Decider } from "../decision/decide.ts";
import type { PendingDecision } from "../decision/pending-decision.ts";
import type { Logger } from "../observe/log.ts";
import type { Counter, Statistics } from "../observe/statistics.ts";
import { decodeRequest } from "../protocol/decode-request.ts";
import { requestFromJsonBytes } from "../protocol/json-request.ts";
import type { RateLimitRequest, RateLimitResponse } from "../protocol/messages.ts";
import {
  DEFAULT_REQUEST_LIMITS,
  deniedResponse,
  OversizedRequestError,
  type RequestLimits,
} from "../protocol/request-limits.ts";
import { RequestPlaces } from "../protocol/scan-request.ts";
import type { RuleSet } from "../rules/rule.ts";
import { type CallFailure, knownFailure } from "./call-failure.ts";

/** Limits on the requests that the listeners accept. */
export interface RequestPolicy {
  /** Bytes of a gRPC message or an HTTP body: `MAX_REQUEST_SIZE_IN_BYTES`. */
  readonly bytes: number;
  readonly limits: RequestLimits;
  /** `OVERSIZED_REQUEST`: answer requests above a limit with OVER_LIMIT, not with an error. */
  readonly denyOversized: boolean;
}

const defaultPolicy: RequestPolicy = {
  bytes: 256 * 1024,
  limits: DEFAULT_REQUEST_LIMITS,
  denyOversized: false,
};

export interface RateLimitHandlerOptions {
  readonly decider: Decider;
  readonly store: CounterStore;
  /** The current rules; undefined before the first load. Called once for each call, so that no call mixes two sets. */
  readonly ruleSet: () => RuleSet | undefined;
  readonly statistics: Statistics;
  readonly log: Logger;
  /** Default: the default limits, and errors above them. */
  readonly requests?: RequestPolicy;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

/** Decides calls for all listeners. Counts and logs failures, and converts them to messages for callers. */
export class RateLimitHandler {
  readonly #options: RateLimitHandlerOptions;
  readonly #requests: RequestPolicy;
  readonly #now: () => number;
  readonly #places = new RequestPlaces();
  readonly #serviceErrors: Counter;
  readonly #storeErrors: Counter;
  readonly #oversized: Counter;

  constructor(options: RateLimitHandlerOptions) {
    this.#options = options;
    this.#requests = options.requests ?? defaultPolicy;
    this.#now = options.now ?? Date.now;
    const name = "ratelimit.service.call.should_rate_limit";
    this.#serviceErrors = options.statistics.counter(`${name}.service_error`);
    this.#oversized = options.statistics.counter(`${name}.oversized_request`);
    // The embedded store fails only for requests that no store can serve. Its errors count as kvstore's.
    const kind = options.store.kind === "objcache" ? "objcache" : "kvstore";
    this.#storeErrors = options.statistics.counter(`${name}.${kind}_error`);
  }

  /** The longest message or body. */
  get maxRequestBytes(): number {
    return this.#requests.bytes;
  }

  /** Reads the message in `buffer[start..end)`. */
  decodeMessage(buffer: Uint8Array, start: number, end: number): RateLimitRequest {
    return decodeRequest(buffer, start, end, this.#requests.limits);
  }

  /** Reads a request's JSON. */
  decodeJson(bytes: Uint8Array): RateLimitRequest {
    return requestFromJsonBytes(bytes, this.#requests.limits);
  }

  /**
   * Decides one request. Returns the response itself if the store is synchronous.
   * @param deadline of the caller, in milliseconds since the epoch; 0 for none
   */
  decide(request: RateLimitRequest, deadline: number): RateLimitResponse | Promise<RateLimitResponse> {
    const { decider, ruleSet } = this.#options;
    return decider.decide(decider.prepare(request, ruleSet()), this.#now(), deadline);
  }

  /**
   * Decides the request whose message is in `buffer[start..end)`. Keeps no reference to the buffer. Callers must write
   * out a response at once: the next call may reuse the object.
   * @param now milliseconds since the epoch
   */
  decideMessage(
    buffer: Uint8Array,
    start: number,
    end: number,
    now: number,
    deadline: number,
  ): RateLimitResponse | PendingDecision {
    const { decider, ruleSet } = this.#options;
    this.#places.scan(buffer, start, end, this.#requests.limits);
    return decider.decideInPlace(this.#places, ruleSet(), now, deadline);
  }

  /** Decides the request in JSON. Callers must read a response that is not a promise at once: the next call reuses it. */
  decideJson(bytes: Uint8Array): RateLimitResponse | Promise<RateLimitResponse> {
    const { decider, ruleSet } = this.#options;
    return decider.decide(decider.prepare(this.decodeJson(bytes), ruleSet()), this.#now(), 0, true);
  }

  /**
   * Counts a request above a limit. Returns the denial if the policy answers with one, or else undefined.
   * @param error that `decide` or a decoder threw
   */
  denialOf(error: unknown): RateLimitResponse | undefined {
    if (!(error instanceof OversizedRequestError)) return undefined;
    this.#oversized.value++;
    return this.#requests.denyOversized ? deniedResponse : undefined;
  }

  /** Counts an error that `decide` or a decoder threw. Converts it to the failure that the caller sees. */
  failureOf(error: unknown): CallFailure {
    if (error instanceof StoreError) {
      this.#storeErrors.value++;
      this.#options.log.debug(() => `a decision failed: ${error.code}: ${error.message}`);
    } else if (!(error instanceof OversizedRequestError)) this.#serviceErrors.value++;
    const failure = knownFailure(error);
    if (failure !== undefined) return failure;
    this.#options.log.error(`a decision failed unexpectedly: ${describe(error)}`);
    return { reason: "INTERNAL", message: "the decision failed; see the service's log" };
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
