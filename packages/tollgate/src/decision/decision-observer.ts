import { basename } from "node:path";
import type { KeyMask } from "../observe/key-mask.ts";
import type { KeyLabels } from "../observe/top-keys/key-labels.ts";
import type { ThreadTopKeys } from "../observe/top-keys/thread-top-keys.ts";
import { Code, type DescriptorStatus, type Entry } from "../protocol/messages.ts";
import type { Location, Match, Rule } from "../rules/rule.ts";
import type { DecidedText } from "./decided-text.ts";
import type { ObservedRule, RuleObserver } from "./observed-rule.ts";
import type { PreparedPart } from "./prepared.ts";
import type { Scratch } from "./scratch.ts";
import { hashOfBytes, hashOfText } from "./stem-hash.ts";

export interface DecisionObserverOptions {
  readonly topKeys: ThreadTopKeys;
  readonly mask: KeyMask;
  /** Of the hashes of keys: the same in all threads. */
  readonly seed: number;
}

/** Counts the keys of decisions. Deciders without one pay nothing. */
export class DecisionObserver implements RuleObserver {
  readonly #options: DecisionObserverOptions;
  readonly #rules = new WeakMap<Rule, ObservedRule>();
  /** By domain: all descriptors with limits of their own. Bounded by the number of configured domains. */
  readonly #overrides = new Map<string, ObservedRule>();

  constructor(options: DecisionObserverOptions) {
    this.#options = options;
  }

  ruleOf({ rule, sharedValues }: Match): ObservedRule {
    const known = rule.location === undefined ? this.#overrides.get(rule.domain) : this.#rules.get(rule);
    if (known !== undefined) return known;
    const { location, domain, path } = rule;
    const name = location === undefined ? `${domain}.${OVERRIDES}` : [domain, ...path].join(".");
    const file = location === undefined ? "" : placeOf(location);
    const observed = { keys: this.#options.topKeys.rule(name, file), sharedValues };
    if (location === undefined) this.#overrides.set(domain, observed);
    else this.#rules.set(rule, observed);
    return observed;
  }

  /**
   * @param statuses one for each part
   * @param now milliseconds since the epoch
   */
  decided(
    parts: readonly PreparedPart[],
    statuses: readonly DescriptorStatus[],
    scratch: Scratch,
    text: DecidedText,
    now: number,
  ): void {
    const half = this.#options.topKeys.halfAt(now);
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index]!;
      const { observed, hits, rule } = part;
      if (observed === undefined || rule === undefined || rule.unlimited) continue;
      const isRefused = statuses[index]!.code === Code.OVER_LIMIT;
      if (hits <= 0 && !isRefused) continue;
      const hash = this.#hashOf(part, scratch);
      const { all, refused } = observed.keys;
      if (hits > 0) {
        const label = all.add(hash, hits, half);
        if (label >= 0) this.#label(all.labels, label, text, index, observed);
      }
      if (isRefused) {
        const label = refused.add(hash, Math.max(hits, 1), half);
        if (label >= 0) this.#label(refused.labels, label, text, index, observed);
      }
    }
  }

  #hashOf({ stem, stems, stemStart, stemEnd }: PreparedPart, scratch: Scratch): number {
    const { seed } = this.#options;
    if (stemEnd > stemStart && stem === "" && stems.length === 0)
      return hashOfBytes(scratch.view, stemStart, stemEnd, seed);
    return hashOfText(stems[0] ?? stem, seed);
  }

  #label(labels: KeyLabels, label: number, text: DecidedText, index: number, observed: ObservedRule): void {
    const { places } = text;
    if (places !== undefined && observed.sharedValues === undefined) {
      const { firstEntry, entries } = places.descriptors[index]!;
      if (labels.copy(label, places, firstEntry, entries)) return;
    }
    labels.set(label, this.#shown(text.entries(index), observed));
  }

  /** The entries with the patterns of `share_threshold` in place of the values that share a counter. */
  #shown(entries: readonly Entry[], { sharedValues }: ObservedRule): ReturnType<KeyMask["entries"]> {
    const shared =
      sharedValues === undefined
        ? entries
        : entries.map(({ key, value }, index) => ({ key, value: sharedValues[index] ?? value }));
    return this.#options.mask.entries(shared);
  }
}

/** All files are in one folder, so the name without the path is enough. The name of an xDS resource stays whole. */
function placeOf({ file, line }: Location): string {
  return line === 0 ? file : `${basename(file)}:${line}`;
}

const OVERRIDES = "(limits of requests)";
