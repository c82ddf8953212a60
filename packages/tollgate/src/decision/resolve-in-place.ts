import type { Statistics } from "../observe/statistics.ts";
import type { OverrideTable } from "../overrides/table.ts";
import { type DescriptorPlaces, ENTRY_PLACES, type RequestPlaces } from "../protocol/scan-request.ts";
import { type Match, NEEDS_TEXT, type Rule, type RuleSet } from "../rules/rule.ts";
import { WINDOW_START_DIGITS } from "./cache-key.ts";
import { type Mutable, type PreparedPart, passing, type Resolution } from "./prepared.ts";
import { limitsResolution, type ResolveOptions, resolutionOf } from "./resolve.ts";
import { afterStem, type Scratch } from "./scratch.ts";

/** The resolution of all descriptors that lead to a node, and the fixed ends of their stems. */
interface Plan {
  /** Undefined if the stem must be made from texts. */
  readonly resolution: Resolution | undefined;
  /** See `KeyInPlace`. */
  readonly head: Uint8Array;
  /** One for each limit of the rule. */
  readonly tails: readonly Uint8Array[];
}

const noBytes = new Uint8Array(0);
const needsText: Plan = { resolution: undefined, head: noBytes, tails: [] };
const passes: Plan = { ...needsText, resolution: passing };

const noRules: ReadonlySet<Rule> = new Set();

/** Resolves descriptors from the bytes of their message: without a text, and without memory for each descriptor. */
export class ResolverInPlace {
  readonly #options: ResolveOptions;
  readonly #statistics: Statistics;
  /** By the number of the node. */
  #plans = new Map<number, Plan>();
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

  /** Returns the resolution, and writes the stems. Undefined if they must be made from texts. */
  resolve(
    ruleSet: RuleSet,
    node: number,
    places: RequestPlaces,
    descriptor: DescriptorPlaces,
    part: Mutable<PreparedPart>,
    scratch: Scratch,
  ): Resolution | undefined {
    const { resolution, head, tails } = this.#plans.get(node) ?? this.#plan(ruleSet, node);
    for (let index = 0; index < tails.length; index++) {
      const end = this.#writeStem(head, tails[index]!, places, descriptor, scratch);
      if (end < 0) return undefined;
      if (index === 0) {
        part.stemStart = this.#used;
        part.stemEnd = end;
      }
      this.#used = afterStem(end);
    }
    return resolution;
  }

  #plan(ruleSet: RuleSet, node: number): Plan {
    const match = node === NEEDS_TEXT ? null : ruleSet.fixedMatch(node);
    const plan = match === null ? needsText : match === undefined ? passes : this.#planOf(match);
    this.#plans.set(node, plan);
    return plan;
  }

  #planOf(match: Match): Plan {
    const { rule, metricKey, metricFromRequest, sharedValues } = match;
    const { limits, domain } = rule;
    const { inPlace } = this.#options.keyFormat;
    const resolution =
      limits === undefined
        ? resolutionOf(match, this.#statistics.rule(metricKey, metricFromRequest), "", this.#options)
        : limitsResolution(match, this.#statistics, this.#options);
    if (resolution.windowSize === 0) return { resolution, head: noBytes, tails: [] };
    const head = inPlace.head(domain);
    if (head === undefined || sharedValues !== undefined || this.#touched.has(rule)) return needsText;
    if (limits === undefined)
      return { resolution, head: Buffer.from(head), tails: [Buffer.from(inPlace.tail(rule.unit))] };
    if (!inPlace.hasShapes) return needsText;
    // The longest key decides for all whether they are hashed, so only lists of short keys are written in place.
    const { isListed } = limits[0]!;
    const tails = limits.map(({ keyPart }) => Buffer.from(isListed ? `}${keyPart}` : keyPart));
    return { resolution, head: Buffer.from(isListed ? `{${head}` : head), tails };
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
