import { basename } from "node:path";
import type { KeyEntries, KeyMask } from "../observe/key-mask.ts";
import type { KeyCounts } from "../observe/top-keys/key-counts.ts";
import { Pace } from "../observe/top-keys/pace.ts";
import type { ThreadTopKeys } from "../observe/top-keys/thread-top-keys.ts";
import { Code, type Entry } from "../protocol/messages.ts";
import type { Location, Match, Rule } from "../rules/rule.ts";
import type { DecidedText } from "./decided-text.ts";
import type { DecisionRecorder, Ended } from "./decision-recorder.ts";
import type { ObservedRule, RuleObserver } from "./observed-rule.ts";
import type { Scratch } from "./scratch.ts";
import { hashOfStem } from "./stem-of-part.ts";

export interface DecisionObserverOptions {
  /** Undefined if top keys are off. */
  readonly topKeys: ThreadTopKeys | undefined;
  readonly recorder: DecisionRecorder;
  readonly mask: KeyMask;
  /** The seed of the hashes of top keys: the same in all threads. */
  readonly seed: number;
}

/** Counts the keys of decisions, and records some of them. Deciders without an observer pay nothing. */
export class DecisionObserver implements RuleObserver {
  readonly #options: DecisionObserverOptions;
  readonly #rules = new WeakMap<Rule, ObservedRule>();
  /** Rules for all descriptors with limits of their own, by domain. Bounded by the number of configured domains. */
  readonly #overrides = new Map<string, ObservedRule>();
  readonly #hits: Pace;
  readonly #refusals: Pace;

  constructor(options: DecisionObserverOptions) {
    this.#options = options;
    // xorshift must not begin with 0.
    this.#hits = new Pace(options.seed | 1);
    this.#refusals = new Pace(~options.seed | 1);
  }

  /** Whether it observes anything. */
  get active(): boolean {
    return this.#options.topKeys !== undefined || this.#options.recorder.active;
  }

  /** Whether all decisions must be passed to {@link decided}, not only those with a weight and the refused ones. */
  get recording(): boolean {
    return this.#options.recorder.active;
  }

  /** Call it at the beginning of each decision. */
  begin(scratch: Scratch, now: number): void {
    scratch.began = this.#options.recorder.active ? performance.now() : 0;
    scratch.weight = this.#options.topKeys === undefined ? 0 : this.#hits.take(now);
  }

  ruleOf({ rule, sharedValues }: Match): ObservedRule {
    const known = rule.location === undefined ? this.#overrides.get(rule.domain) : this.#rules.get(rule);
    if (known !== undefined) return known;
    const { location, domain, path } = rule;
    const name = location === undefined ? `${domain}.${OVERRIDES}` : [domain, ...path].join(".");
    const file = location === undefined ? "" : placeOf(location);
    const keys = this.#options.topKeys?.rule(name, file);
    const observed = { rule: name, file, keys, sharedValues };
    if (location === undefined) this.#overrides.set(domain, observed);
    else this.#rules.set(rule, observed);
    return observed;
  }

  /** Call it at the end of a decision. */
  decided(ended: Ended): void {
    const { topKeys, recorder } = this.#options;
    if (topKeys !== undefined) this.#count(ended, topKeys.halfAt(ended.now));
    if (recorder.active) recorder.record(ended);
  }

  #count({ parts, statuses, scratch, text, now, isKept }: Ended, half: number): void {
    const { weight } = scratch;
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index]!;
      const { resolution, hits } = part;
      const { observed } = resolution;
      if (observed?.keys === undefined) continue;
      const isRefused = statuses[index]!.code === Code.OVER_LIMIT;
      // Refusals are rarer, so they have a pace of their own where their texts are at hand.
      const refusals = !isRefused ? 0 : isKept ? weight : this.#refusals.take(now);
      if (refusals === 0 && (hits <= 0 || weight === 0)) continue;
      const hash = hashOfStem(part, scratch, this.#options.seed);
      if (hash === undefined) continue;
      const { all, refused } = observed.keys;
      if (hits > 0 && weight > 0) {
        const label = all.add(hash, hits, half, weight);
        if (label >= 0) this.#label(all, label, text, index, observed);
      }
      if (refusals > 0) {
        const label = refused.add(hash, Math.max(hits, 1), half, refusals);
        if (label >= 0) this.#label(refused, label, text, index, observed);
      }
    }
  }

  #label(counts: KeyCounts, label: number, text: DecidedText, index: number, observed: ObservedRule): void {
    const { places } = text;
    if (places !== undefined && observed.sharedValues === undefined) {
      const { firstEntry, entries } = places.descriptors[index]!;
      if (counts.labels.copy(label, places, firstEntry, entries)) return;
    }
    counts.labels.set(label, this.#shown(text.entries(index), observed));
  }

  /** The entries with the patterns of `share_threshold` in place of the values that share a counter. */
  #shown(entries: readonly Entry[], { sharedValues }: ObservedRule): KeyEntries {
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
