/** The objects of one decision of a request that has a rule with `limits`. Other decisions reuse them. */
import { algorithms } from "../counters/algorithms/algorithms.ts";
import type { ReservedGroup, ReservedLimit } from "../counters/reservations.ts";
import {
  type AcquireRequest,
  type Count,
  type CountRequest,
  HoldBack,
  Outcome,
  Refuses,
  type StemPlace,
} from "../counters/store.ts";
import { Code, type DescriptorStatus, type RateLimitResponse } from "../protocol/messages.ts";
import { quotaPasses, refusalOf } from "./overall.ts";
import type { Mutable, PreparedPart, Resolution } from "./prepared.ts";
import { plainLimitOf } from "./resolve-limits.ts";
import type { ResolvedLimit } from "./resolved-limit.ts";
import {
  afterStem,
  newPlace,
  newStatus,
  type Scratch,
  type ScratchOptions,
  UNLIMITED_REMAINING,
} from "./scratch.ts";

export interface ScratchGroup extends Mutable<ReservedGroup> {
  readonly limits: readonly ScratchLimit[];
}

export interface ScratchLimit extends Mutable<ReservedLimit> {
  resolved: ResolvedLimit;
}

interface GroupSlot extends ScratchGroup {
  readonly limits: LimitSlot[];
  readonly slots: LimitSlot[];
  readonly count: Mutable<Count>;
}

interface LimitSlot extends ScratchLimit {
  readonly memory: Mutable<StemPlace>;
  /** The last plain limit. Calls of one rule follow each other. */
  plain: ResolvedLimit | undefined;
}

export class LimitsScratch {
  readonly #slots: GroupSlot[] = [];
  /** One for each part that the store decides, in order. */
  readonly groups: GroupSlot[] = [];
  readonly request: Mutable<AcquireRequest>;
  /** The same request as plain counts. `decide-limits.ts` fills it in. */
  readonly counts: Mutable<Count>[] = [];
  readonly countRequest: Mutable<CountRequest>;
  /** Whether all limits are plain fixed windows, so that the store can count them as usual. */
  isPlain = true;
  /** One for each part. */
  readonly statuses: readonly Mutable<DescriptorStatus>[];
  readonly response: Mutable<RateLimitResponse>;

  constructor(descriptors: number) {
    this.statuses = Array.from({ length: descriptors }, () => newStatus(undefined, 0));
    this.request = { groups: this.groups, holdBack: HoldBack.NEVER, now: 0, deadline: 0 };
    this.countRequest = { counts: this.counts, holdBack: HoldBack.NEVER, now: 0, deadline: 0 };
    this.response = {
      overallCode: Code.OK,
      statuses: this.statuses,
      responseHeadersToAdd: [],
      dynamicMetadata: undefined,
    };
  }

  /**
   * Fills in the groups, and adds to the statistics that need no store.
   * @param readsPlaces see `CounterStore.readsPlaces`
   * @param isDecided whether the store decides about a part. The default also adds to the statistics.
   */
  arrange(
    parts: readonly PreparedPart[],
    options: ScratchOptions,
    nowSeconds: number,
    { keys, words }: Pick<Scratch, "keys" | "words">,
    readsPlaces: boolean,
    isDecided: (part: PreparedPart) => boolean = countPart,
  ): void {
    let passes: boolean | undefined;
    const { quotaMode } = options;
    let mayRefuse = false;
    let decided = 0;
    this.isPlain = true;
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index]!;
      const status = this.statuses[index]!;
      status.code = Code.OK;
      status.currentLimit = undefined;
      status.limitRemaining = part.resolution.rule?.unlimited ? UNLIMITED_REMAINING : 0;
      status.durationUntilReset = 0;
      if (!isDecided(part)) continue;
      const slot = this.#slot(decided);
      this.groups[decided++] = slot;
      slot.hits = part.hits;
      slot.refuses = refusalOf(part, quotaMode);
      if (slot.refuses === Refuses.TOGETHER) {
        passes ??= quotaPasses(parts, quotaMode);
        if (passes) slot.refuses = Refuses.NEVER;
      }
      slot.outcome = Outcome.COUNTED;
      slot.accepted = true;
      if (slot.refuses !== Refuses.NEVER) mayRefuse = true;
      const { limits, stem, stems } = part.resolution;
      const number = limits?.length ?? 1;
      let place = part.stemStart;
      for (let limit = 0; limit < number; limit++) {
        slot.slots[limit] ??= newLimitSlot();
        const own = slot.slots[limit]!;
        const resolved = limits === undefined ? plainOf(own, part.resolution) : limits[limit]!;
        fillLimit(own, resolved, part.hits, nowSeconds);
        const text = limits === undefined ? stem : stems[limit];
        const end = limit === 0 ? part.stemEnd : place + stemLength(part, resolved);
        own.stem = text || "";
        own.place = undefined;
        if (!text && !readsPlaces) own.stem = keys.toString("latin1", place, end);
        else if (!text) {
          own.memory.bytes = keys;
          own.memory.words = words;
          own.memory.start = place;
          own.memory.end = end;
          own.place = own.memory;
        }
        place = afterStem(end);
        if (!resolved.algorithm.countsRefused || resolved.limit.reservations) this.isPlain = false;
      }
      if (slot.limits.length !== number) {
        slot.limits.length = 0;
        for (let limit = 0; limit < number; limit++) slot.limits.push(slot.slots[limit]!);
      }
    }
    if (this.groups.length !== decided) this.groups.length = decided;
    this.request.holdBack = options.stopIncrementing && mayRefuse ? HoldBack.WHEN_REFUSED : HoldBack.NEVER;
  }

  /** See `Counters`. Of several limits, the tightest one. */
  countAfter(index: number): number | undefined {
    const { outcome, limits } = this.groups[index]!;
    return outcome === Outcome.COUNTED || outcome === Outcome.HELD ? tightest(limits).used : undefined;
  }

  #slot(index: number): GroupSlot {
    this.#slots[index] ??= newGroupSlot();
    return this.#slots[index];
  }
}

/** One that refuses before all others, the longest reset first; then the one with the least remaining. */
export function tightest(limits: readonly ScratchLimit[]): ScratchLimit {
  let best = limits[0]!;
  for (let index = 1; index < limits.length; index++) {
    const limit = limits[index]!;
    if (limit.accepted !== best.accepted) {
      if (best.accepted) best = limit;
    } else if (limit.accepted ? limit.remaining < best.remaining : limit.reset > best.reset) best = limit;
  }
  return best;
}

/** The length of a further stem of a list: the stems differ in their ends. */
function stemLength({ resolution, stemStart, stemEnd }: PreparedPart, { limit }: ResolvedLimit): number {
  return stemEnd - stemStart - resolution.limits![0]!.limit.keyPart.length + limit.keyPart.length;
}

/** Adds to the statistics. Returns whether the store decides about the part. */
function countPart({ resolution, hits, isRefund }: PreparedPart): boolean {
  const { rule, statistics, domainNotFound } = resolution;
  if (rule === undefined || statistics === undefined) {
    if (domainNotFound !== undefined) domainNotFound.value++;
    return false;
  }
  if (isRefund) statistics.totalNegativeHits -= hits;
  else statistics.totalHits += hits;
  if (rule.unlimited && !isRefund) statistics.withinLimit += hits;
  return !rule.unlimited;
}

function fillLimit(own: LimitSlot, resolved: ResolvedLimit, hits: number, nowSeconds: number): void {
  const { limit, algorithm } = resolved;
  own.resolved = resolved;
  own.algorithm = algorithm;
  own.reservations = limit.reservations;
  // A plain window accepts a look up to its limit. With `strict` one hit must be left.
  const isStrictLook = limit.strict && algorithm.countsRefused && hits === 0;
  own.limit = limit.requestsPerUnit - (isStrictLook ? 1 : 0);
  own.burst = limit.burst;
  own.windowStart = algorithm.perWindow ? limit.window.startOf(nowSeconds) : 0;
  own.windowSize = limit.window.size;
  own.accepted = true;
  own.used = own.remaining = own.reset = 0;
}

function plainOf(own: LimitSlot, resolution: Resolution): ResolvedLimit {
  // Each resolution has its own object.
  if (own.plain?.currentLimit !== resolution.currentLimit) own.plain = plainLimitOf(resolution);
  return own.plain;
}

function newGroupSlot(): GroupSlot {
  return {
    limits: [],
    slots: [],
    hits: 0,
    refuses: Refuses.NEVER,
    outcome: Outcome.COUNTED,
    accepted: true,
    lead: 0,
    released: 0,
    expired: 0,
    restored: 0,
    count: {
      stem: "",
      place: undefined,
      windowStart: 0,
      windowSize: 0,
      hits: 0,
      limit: 0,
      refuses: Refuses.NEVER,
      outcome: Outcome.COUNTED,
      after: 0,
    },
  };
}

function newLimitSlot(): LimitSlot {
  return {
    // Each decision overwrites it.
    resolved: undefined as unknown as ResolvedLimit,
    stem: "",
    place: undefined,
    algorithm: algorithms.fixed_window,
    reservations: false,
    limit: 0,
    burst: 0,
    windowStart: 0,
    windowSize: 0,
    accepted: true,
    used: 0,
    remaining: 0,
    reset: 0,
    homeStart: 0,
    held: 0,
    digest: undefined,
    memory: newPlace(),
    plain: undefined,
  };
}
