/** Finds and reads the counters that an operator names. */
import type { CounterStore } from "../counters/store.ts";
import { type CounterOf, countersOf, readCounters, readCountersWithHolds } from "../decision/counters-of.ts";
import type { KeyFormat } from "../decision/key-format.ts";
import type { AdjustmentRecord } from "../overrides/record.ts";
import { type ActiveOverrides, withOverrides } from "../overrides/table.ts";
import { adjustmentNotes } from "../overrides/texts.ts";
import type { Entry } from "../protocol/messages.ts";
import { explainMatch } from "../rules/explain-match.ts";
import type { Match, RuleSet } from "../rules/rule.ts";
import { AdminError, storeFailure } from "./admin-error.ts";
import { type CounterView, counterView, type DescriptorView, descriptorText } from "./views.ts";

export interface TargetsOptions {
  /** The current rules; undefined before the first load. */
  readonly ruleSet: () => RuleSet | undefined;
  readonly keyFormat: KeyFormat;
  readonly overrides: ActiveOverrides | undefined;
  /** The store without over-limit cache and failure policy. */
  readonly store: CounterStore;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A descriptor with the domain that an operator names. */
export interface Target {
  readonly domain: string;
  readonly entries: readonly Entry[];
}

export class Targets {
  readonly #options: TargetsOptions;

  constructor(options: TargetsOptions) {
    this.#options = options;
  }

  /** The match of the rules, without overrides. @throws {AdminError} without a limit */
  match({ domain, entries }: Target): Match {
    const ruleSet = this.#ruleSet();
    const match = ruleSet.match(domain, entries);
    if (match === undefined) throw new AdminError("NO_LIMIT", explainMatch(ruleSet, domain, entries).summary);
    return match;
  }

  /** The counters with their effective limits; undefined without a rule. @throws {AdminError} before the first load */
  known({ domain, entries }: Target): readonly CounterOf[] | undefined {
    const { overrides, keyFormat, now } = this.#options;
    const match = this.#ruleSet().match(domain, entries);
    if (match === undefined) return undefined;
    const effective = withOverrides(overrides, match, domain, entries)!;
    return countersOf(keyFormat, domain, entries, effective, Math.floor(now() / 1000));
  }

  /** The same. @throws {AdminError} without a limit */
  counters(target: Target): readonly CounterOf[] {
    this.match(target);
    return this.known(target)!;
  }

  /** The counters without overrides: also those that an override has lifted. @throws {AdminError} */
  ownCounters(target: Target): readonly CounterOf[] {
    const { keyFormat, now } = this.#options;
    const { domain, entries } = target;
    return countersOf(keyFormat, domain, entries, this.match(target), Math.floor(now() / 1000));
  }

  /** The changes by overrides and grants, as texts. */
  notes(target: Target, records?: readonly AdjustmentRecord[]): readonly string[] {
    const { overrides, now } = this.#options;
    const { domain, entries } = target;
    const active = records ?? overrides?.current?.recordsOf(domain, entries, now()) ?? [];
    return adjustmentNotes(this.match(target), active, now());
  }

  /** Reads counters. @param outcome what a failure means for the operator @throws {AdminError} */
  async read(
    counters: readonly CounterOf[],
    outcome = "nothing was changed",
    done: readonly string[] = [],
  ): Promise<readonly CounterView[]> {
    await storeFailure(
      outcome,
      () => readCountersWithHolds(this.#options.store, counters, this.#options.now()),
      done,
    );
    return counters.map(counterView);
  }

  /** Reads the counters of several descriptors, in batches, so that a long list does not delay the decisions of callers. */
  async readAll(descriptors: readonly (readonly CounterOf[])[]): Promise<void> {
    const { store, now } = this.#options;
    for (let at = 0; at < descriptors.length; at += READ_TOGETHER)
      await storeFailure("nothing was read", () =>
        readCounters(store, descriptors.slice(at, at + READ_TOGETHER), now()),
      );
  }

  #ruleSet(): RuleSet {
    const ruleSet = this.#options.ruleSet();
    if (ruleSet === undefined) throw new AdminError("UNAVAILABLE", "no rate limit configuration is loaded");
    return ruleSet;
  }
}

/** Descriptors whose counters are read at once. */
const READ_TOGETHER = 64;

export function describe({ domain, entries }: Target): DescriptorView {
  return { domain, descriptor: descriptorText(entries) };
}
