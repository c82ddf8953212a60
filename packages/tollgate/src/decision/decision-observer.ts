import { basename } from "node:path";
import type { KeyEntries, KeyMask } from "../observe/key-mask.ts";
import type { KeyCounts } from "../observe/top-keys/key-counts.ts";
import type { ThreadTopKeys } from "../observe/top-keys/thread-top-keys.ts";
import { Code, type Entry } from "../protocol/messages.ts";
import type { Location, Match, Rule } from "../rules/rule.ts";
import type { DecidedText } from "./decided-text.ts";
import type { DecisionRecorder, Ended } from "./decision-recorder.ts";
import type { ObservedRule, RuleObserver } from "./observed-rule.ts";
import { hashOfStem } from "./stem-of-part.ts";

export interface DecisionObserverOptions {
  /** Undefined if top keys are off. */
  readonly topKeys: ThreadTopKeys | undefined;
  readonly recorder: DecisionRecorder;
  readonly mask: KeyMask;
  /** Of the hashes of top keys: the same in all threads. */
  readonly seed: number;
}

/** Counts the keys of decisions, and records some of them. Deciders without an observer pay nothing. */
export class DecisionObserver implements RuleObserver {
  readonly #options: DecisionObserverOptions;
  readonly #rules = new WeakMap<Rule, ObservedRule>();
  /** By domain: all descriptors with limits of their own. Bounded by the number of configured domains. */
  readonly #overrides = new Map<string, ObservedRule>();

  constructor(options: DecisionObserverOptions) {
    this.#options = options;
  }

  /** Whether {@link decided} does anything. */
  get active(): boolean {
    return this.#options.topKeys !== undefined || this.#options.recorder.active;
  }

  /** The beginning of a decision, for its duration: monotonic milliseconds, or 0 if nothing needs it. */
  begin(): number {
    return this.#options.recorder.active ? performance.now() : 0;
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

  /** @param began result of {@link begin} */
  decided(ended: Ended, began: number): void {
    const { topKeys, recorder } = this.#options;
    if (topKeys !== undefined) this.#count(ended, topKeys.halfAt(ended.now));
    if (recorder.active) recorder.record(ended, began);
  }

  #count({ parts, statuses, scratch, text }: Ended, half: number): void {
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index]!;
      const { observed, hits } = part;
      if (observed?.keys === undefined) continue;
      const isRefused = statuses[index]!.code === Code.OVER_LIMIT;
      if (hits <= 0 && !isRefused) continue;
      const hash = hashOfStem(part, scratch, this.#options.seed);
      if (hash === undefined) continue;
      const { all, refused } = observed.keys;
      if (hits > 0) {
        const label = all.add(hash, hits, half);
        if (label >= 0) this.#label(all, label, text, index, observed);
      }
      if (isRefused) {
        const label = refused.add(hash, Math.max(hits, 1), half);
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
