import { MAX_COUNT } from "../counters/store.ts";
import type { Statistics } from "../observe/statistics.ts";
import { descriptorOf, domainOf } from "../protocol/decode-request.ts";
import type { Descriptor, RateLimitRequest } from "../protocol/messages.ts";
import type { DescriptorPlaces, RequestPlaces } from "../protocol/scan-request.ts";
import { NO_NODE, type RuleSet } from "../rules/rule.ts";
import { DecisionError } from "./decision-error.ts";
import {
  type Mutable,
  newPart,
  type Prepared,
  type PreparedPart,
  passing,
  type Resolution,
} from "./prepared.ts";
import { replaced } from "./replaces.ts";
import { type ResolveOptions, resolve } from "./resolve.ts";
import { ResolverInPlace } from "./resolve-in-place.ts";
import type { Scratch } from "./scratch.ts";

/** Checks requests and finds the rules, statistics and cache keys of their descriptors. */
export class Preparer {
  readonly #options: ResolveOptions;
  readonly #statistics: Statistics;
  readonly #inPlace: ResolverInPlace;

  constructor(options: ResolveOptions, statistics: Statistics) {
    this.#options = options;
    this.#statistics = statistics;
    this.#inPlace = new ResolverInPlace(options, statistics);
  }

  /** @throws {DecisionError} for a bad request, or without rules */
  prepare(request: RateLimitRequest, ruleSet: RuleSet | undefined): Prepared {
    const { domain, descriptors } = request;
    const rules = check(domain.length, descriptors.length, ruleSet);
    const parts = descriptors.map((descriptor) => {
      const part = newPart();
      part.resolution = resolve(rules, this.#statistics, this.#options, domain, descriptor);
      part.hits = signedHits(descriptor, request);
      part.isRefund = descriptor.isNegativeHits;
      return part;
    });
    if (parts.some(isReplacing)) dropReplaced(parts);
    return { request, parts };
  }

  /** Does the same for a message, in the memory of `scratch`. @throws {DecisionError} */
  prepareInPlace(places: RequestPlaces, ruleSet: RuleSet | undefined, scratch: Scratch): void {
    const { count, descriptors } = places;
    const rules = check(places.domainEnd - places.domainStart, count, ruleSet);
    const { parts } = scratch;
    this.#inPlace.begin(rules);
    const domain = rules.inPlace.domain(places);
    let replaces = false;
    for (let index = 0; index < count; index++) {
      const descriptor = descriptors[index]!;
      const part = parts[index]!;
      part.stemStart = part.stemEnd = 0;
      part.resolution = this.#resolve(places, descriptor, rules, domain, part, scratch);
      part.hits = signedHits(descriptor, places);
      part.isRefund = descriptor.isNegativeHits;
      if (isReplacing(part)) replaces = true;
    }
    if (replaces) dropReplaced(parts);
  }

  #resolve(
    places: RequestPlaces,
    descriptor: DescriptorPlaces,
    rules: RuleSet,
    domain: number,
    part: Mutable<PreparedPart>,
    scratch: Scratch,
  ): Resolution {
    if (domain !== 0 && !descriptor.hasLimit) {
      const node = rules.inPlace.node(domain, places, descriptor);
      if (node === NO_NODE) return passing;
      const resolution = this.#inPlace.resolve(rules, node, places, descriptor, part, scratch);
      if (resolution !== undefined) return resolution;
    }
    const texts = descriptorOf(places, descriptor);
    return resolve(rules, this.#statistics, this.#options, domainOf(places), texts);
  }
}

function check(domainLength: number, descriptors: number, ruleSet: RuleSet | undefined): RuleSet {
  if (domainLength === 0) throw new DecisionError("INVALID_ARGUMENT", "rate limit domain must not be empty");
  if (descriptors === 0)
    throw new DecisionError("INVALID_ARGUMENT", "rate limit descriptor list must not be empty");
  if (ruleSet === undefined) throw new DecisionError("UNAVAILABLE", "no rate limit configuration loaded");
  return ruleSet;
}

function isReplacing({ resolution: { rule } }: PreparedPart): boolean {
  return rule !== undefined && rule.replaces.length > 0;
}

/** Lets the descriptors pass whose rules another rule of the request replaces. */
function dropReplaced(parts: readonly Mutable<PreparedPart>[]): void {
  const dropped = replaced(parts.map(({ resolution }) => resolution.rule));
  for (let index = 0; index < parts.length; index++) if (dropped[index]) parts[index]!.resolution = passing;
}

/**
 * The hits of a descriptor, negative for a refund: its own number, or else the request's if above 0, or else 1. 0 reads
 * without counting.
 */
export function signedHits(
  { hitsAddend: own, isNegativeHits }: Pick<Descriptor, "hitsAddend" | "isNegativeHits">,
  request: Pick<RateLimitRequest, "hitsAddend">,
): number {
  const common = request.hitsAddend > 0 ? request.hitsAddend : 1;
  const hits = own === undefined ? common : Math.min(own, MAX_COUNT);
  return isNegativeHits && hits > 0 ? -hits : hits;
}
