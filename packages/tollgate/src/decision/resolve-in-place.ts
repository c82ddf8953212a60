import type { Statistics } from "../observe/statistics.ts";
import type { OverrideTable } from "../overrides/table.ts";
import { type DescriptorPlaces, ENTRY_PLACES, type RequestPlaces } from "../protocol/scan-request.ts";
import type { Limit } from "../rules/limit.ts";
import type { Match, Rule, RuleSet } from "../rules/rule.ts";
import { WINDOW_START_DIGITS } from "./cache-key.ts";
import type { Mutable, PreparedPart, Resolution } from "./prepared.ts";
import { limitsResolution, type ResolveOptions, resolutionOf } from "./resolve.ts";
import { afterStem, type Scratch } from "./scratch.ts";

/** The resolution of all descriptors that a rule matches, and the fixed ends of their stems. */
interface Plan {
  readonly resolution: Resolution;
  /** The ends of the keys of a rule with several limits; undefined for one key. */
  readonly tails: readonly Uint8Array[] | undefined;
  /** See `KeyInPlace`. Undefined if the stem must be made from texts. */
  readonly head: Uint8Array | undefined;
  readonly tail: Uint8Array;
}

const noRules: ReadonlySet<Rule> = new Set();

/** Resolves descriptors from the bytes of their message: without a text, and without memory for each descriptor. */
export class ResolverInPlace {
  readonly #options: ResolveOptions;
  readonly #statistics: Statistics;
  #plans = new Map<Match, Plan>();
  #generation = -1;
  #table: OverrideTable | undefined;
  /** The rules that an override changes for some descriptor. Their descriptors are resolved from texts. */
  #touched: ReadonlySet<Rule> = noRules;
  /** The used bytes of the scratch object's keys. */
  #used = 0;

  constructor(options: ResolveOptions, statistics: Statistics) {
    this.#options = options;
    this.#statistics = statistics;
  }

  /** Call it before the first descriptor of a message. */
  begin(ruleSet: RuleSet): void {
    this.#used = 0;
    const { generation } = ruleSet;
    const table = this.#options.overrides?.current;
    if (generation === this.#generation && table === this.#table) return;
    this.#plans = new Map();
    this.#generation = generation;
    this.#table = table;
    this.#touched = table?.touchedRules(ruleSet) ?? noRules;
  }

  /** Returns the resolution, and writes the stem. Undefined if the stem must be made from texts. */
  resolve(
    match: Match,
    places: RequestPlaces,
    descriptor: DescriptorPlaces,
    part: Mutable<PreparedPart>,
    scratch: Scratch,
  ): Resolution | undefined {
    const plan = this.#plans.get(match) ?? this.#plan(match);
    const { resolution, head, tail, tails } = plan;
    if (resolution.windowSize === 0) return resolution;
    if (head === undefined) return undefined;
    const end = this.#writeStem(head, tail, places, descriptor, scratch);
    if (end < 0) return undefined;
    part.stemStart = this.#used;
    part.stemEnd = end;
    this.#used = afterStem(end);
    if (tails !== undefined)
      for (let index = 1; index < tails.length; index++) {
        const next = this.#writeStem(head, tails[index]!, places, descriptor, scratch);
        if (next < 0) return undefined;
        this.#used = afterStem(next);
      }
    return resolution;
  }

  #plan(match: Match): Plan {
    const { rule, metricKey, metricFromRequest, sharedValues } = match;
    if (rule.limits !== undefined) return this.#limitsPlan(match, rule.limits);
    const resolution = resolutionOf(
      match,
      this.#statistics.rule(metricKey, metricFromRequest),
      "",
      this.#options,
    );
    const { inPlace } = this.#options.keyFormat;
    const isInPlace = sharedValues === undefined && !this.#touched.has(rule);
    const head = isInPlace ? inPlace.head(rule.domain) : undefined;
    const plan = {
      resolution,
      tails: undefined,
      head: head === undefined ? undefined : Buffer.from(head),
      tail: Buffer.from(inPlace.tail(rule.unit)),
    };
    this.#plans.set(match, plan);
    return plan;
  }

  #limitsPlan(match: Match, limits: readonly Limit[]): Plan {
    const resolution = limitsResolution(match, this.#statistics, this.#options);
    const { inPlace } = this.#options.keyFormat;
    const isSimple = match.sharedValues === undefined && inPlace.hasShapes && !this.#touched.has(match.rule);
    const head = isSimple ? inPlace.head(match.rule.domain) : undefined;
    const { isListed } = limits[0]!;
    const tails = limits.map(({ keyPart }) => Buffer.from(isListed ? `}${keyPart}` : keyPart));
    const plan = {
      resolution,
      tails,
      head: head === undefined ? undefined : Buffer.from(isListed ? `{${head}` : head),
      tail: tails[0]!,
    };
    // The longest key decides for all whether they are hashed, so only lists of short keys are written in place.
    this.#plans.set(match, plan);
    return plan;
  }

  /** Writes the stem. Returns its end; -1 if it is too long, or a byte would have to be encoded. */
  #writeStem(
    head: Uint8Array,
    tail: Uint8Array,
    { buffer, entries }: RequestPlaces,
    { firstEntry, entries: count }: DescriptorPlaces,
    scratch: Scratch,
  ): number {
    const start = this.#used;
    const first = firstEntry * ENTRY_PLACES;
    const last = first + count * ENTRY_PLACES;
    let size = head.length + tail.length + 2 * count;
    for (let at = first; at < last; at += 2) size += entries[at + 1]! - entries[at]!;
    const { afterKey, afterValue, isPlain, longestKey } = this.#options.keyFormat.inPlace;
    if (size + WINDOW_START_DIGITS > longestKey) return -1;
    const out = scratch.room(start, size);
    let at = copy(out, start, head);
    let plain = 1;
    for (let text = first; text < last; text += 2) {
      const end = entries[text + 1]!;
      for (let index = entries[text]!; index < end; index++) {
        const byte = buffer[index]!;
        plain &= isPlain[byte]!;
        out[at++] = byte;
      }
      out[at++] = text % ENTRY_PLACES === 0 ? afterKey : afterValue;
    }
    return plain === 0 ? -1 : copy(out, at, tail);
  }
}

function copy(out: Uint8Array, at: number, bytes: Uint8Array): number {
  for (let index = 0; index < bytes.length; index++) out[at++] = bytes[index]!;
  return at;
}
