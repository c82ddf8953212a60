import { MAX_COUNT } from "../counters/store.ts";
import type { Statistics } from "../observe/statistics.ts";
import type { CurrentLimit, Descriptor, RateLimitRequest } from "../protocol/messages.ts";
import type { RuleSet } from "../rules/rule.ts";
import { DecisionError } from "./decision-error.ts";
import type { KeyFormat } from "./key-format.ts";
import type { Prepared, PreparedPart } from "./prepared.ts";
import { replaced } from "./replaces.ts";
import { ResolutionCache } from "./resolution-cache.ts";
import { type Resolution, resolve } from "./resolve.ts";
import { nearLimit } from "./tally.ts";

export interface PrepareOptions {
  readonly keyFormat: KeyFormat;
  readonly nearLimitRatio: number;
}

const noLimit: CurrentLimit = { requestsPerUnit: 0, unit: 0, name: "" };
const passing: Resolution = {
  rule: undefined,
  statistics: undefined,
  stem: "",
  windowSize: 0,
  domainNotFound: undefined,
};

/** Checks requests and finds the rules, statistics and cache keys of their descriptors. */
export class Preparer {
  readonly #options: PrepareOptions;
  readonly #statistics: Statistics;
  readonly #cache = new ResolutionCache(8192);

  constructor(options: PrepareOptions, statistics: Statistics) {
    this.#options = options;
    this.#statistics = statistics;
  }

  /** @throws {DecisionError} for a bad request, or without rules */
  prepare(request: RateLimitRequest, ruleSet: RuleSet | undefined): Prepared {
    const { domain, descriptors } = request;
    if (domain === "") throw new DecisionError("INVALID_ARGUMENT", "rate limit domain must not be empty");
    if (descriptors.length === 0) {
      throw new DecisionError("INVALID_ARGUMENT", "rate limit descriptor list must not be empty");
    }
    if (ruleSet === undefined) throw new DecisionError("UNAVAILABLE", "no rate limit configuration loaded");
    const resolutions = this.#resolveAll(request, ruleSet);
    const parts = resolutions.map((resolution, index) =>
      this.#part(request, descriptors[index]!, resolution),
    );
    return {
      request,
      generation: ruleSet.generation,
      parts,
      hasLimits: parts.some(({ limits }) => limits !== undefined),
      isKept: false,
      scratch: undefined,
      limitsScratch: undefined,
    };
  }

  #part(request: RateLimitRequest, descriptor: Descriptor, resolution: Resolution): PreparedPart {
    const { rule } = resolution;
    const limit = rule?.requestsPerUnit ?? 0;
    return {
      rule,
      statistics: resolution.statistics,
      domainNotFound: resolution.domainNotFound,
      stem: resolution.stem,
      windowSize: resolution.windowSize,
      hits: signedHits(descriptor, request),
      isRefund: descriptor.isNegativeHits,
      currentLimit:
        rule === undefined ? noLimit : { requestsPerUnit: limit, unit: rule.unit, name: rule.name },
      near: nearLimit(limit, this.#options.nearLimitRatio),
      limits: resolution.limits,
    };
  }

  #resolveAll(request: RateLimitRequest, ruleSet: RuleSet): Resolution[] {
    let replaces = false;
    const resolutions = request.descriptors.map((descriptor) => {
      const resolution = this.#resolve(ruleSet, request.domain, descriptor);
      if (resolution.rule !== undefined && resolution.rule.replaces.length > 0) replaces = true;
      return resolution;
    });
    if (!replaces) return resolutions;
    const dropped = replaced(resolutions.map(({ rule }) => rule));
    return resolutions.map((resolution, index) => (dropped[index] ? passing : resolution));
  }

  #resolve(ruleSet: RuleSet, domain: string, descriptor: Descriptor): Resolution {
    const known = this.#cache.find(ruleSet.generation, domain, descriptor);
    if (known !== undefined) return known;
    const resolution = resolve(ruleSet, this.#statistics, this.#options.keyFormat, domain, descriptor);
    this.#cache.offer(domain, descriptor, resolution);
    return resolution;
  }
}

/**
 * The hits of a descriptor, negative for a refund: its own number, or else the request's if above 0, or else 1. 0 reads
 * without counting.
 */
export function signedHits(descriptor: Descriptor, request: RateLimitRequest): number {
  const own = descriptor.hitsAddend;
  const common = request.hitsAddend > 0 ? request.hitsAddend : 1;
  const hits = own === undefined ? common : Math.min(own, MAX_COUNT);
  return descriptor.isNegativeHits && hits > 0 ? -hits : hits;
}
