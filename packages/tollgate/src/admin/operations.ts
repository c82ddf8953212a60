/** What an operator can do, apart from HTTP: reads and changes counters, and writes the audit log. */
import { type CounterAdmin, type CounterPlace, hasPrefix } from "../counters/counter-admin.ts";
import type { CounterStore } from "../counters/store.ts";
import { type CounterOf, countersOf, readCounters } from "../decision/counters-of.ts";
import type { KeyFormat } from "../decision/key-format.ts";
import { keyPrefixOf, type ParsedKey, parseKey } from "../decision/parse-key.ts";
import type { Entry } from "../protocol/messages.ts";
import { explainMatch } from "../rules/explain-match.ts";
import type { Match, RuleSet } from "../rules/rule.ts";
import { AdminError, storeFailure } from "./admin-error.ts";
import type { AuditLog } from "./audit-log.ts";
import { type CounterView, counterView, type DescriptorView, descriptorText } from "./views.ts";

export interface OperationsOptions {
  /** The current rules; undefined before the first load. */
  readonly ruleSet: () => RuleSet | undefined;
  readonly keyFormat: KeyFormat;
  /** `CACHE_KEY_PREFIX` */
  readonly prefix: string;
  /** Without over-limit cache and failure policy. */
  readonly store: CounterStore;
  readonly admin: CounterAdmin;
  /** Drops the over-limit entries of these stems in all threads and replicas. */
  readonly invalidate: (stems: readonly string[]) => void;
  readonly audit: AuditLog;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

/** A descriptor with the domain that an operator names. */
export interface Target {
  readonly domain: string;
  readonly entries: readonly Entry[];
}

/** The operator who makes a change, and the reason. */
export interface Author {
  readonly name: string;
  readonly reason: string | undefined;
}

export interface SearchRequest {
  /** Undefined for all domains. */
  readonly domain: string | undefined;
  /** The beginning of a descriptor. */
  readonly prefix: string;
  readonly limit: number;
  readonly next: string;
}

/** A counter that a search found, with its descriptor if its rule is known. */
export type FoundView = (DescriptorView & CounterView) | { readonly key: string; readonly count?: number };

export interface SearchView {
  readonly counters: readonly FoundView[];
  readonly next?: string;
}

export interface ResetView extends DescriptorView {
  readonly before: readonly CounterView[];
  readonly limits: readonly CounterView[];
}

export class Operations {
  readonly #options: OperationsOptions;
  readonly #now: () => number;

  constructor(options: OperationsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** The counters of a descriptor. @throws {AdminError} */
  async get(target: Target): Promise<DescriptorView & { readonly limits: readonly CounterView[] }> {
    const counters = this.#countersOf(target, this.#matchOf(target));
    return { ...describe(target), limits: await this.#read(counters) };
  }

  /** Counters whose descriptors begin with a text. @throws {AdminError} */
  async search({ domain, prefix: descriptor, limit, next: from }: SearchRequest): Promise<SearchView> {
    const { admin, prefix } = this.#options;
    const wanted = keyPrefixOf(prefix, domain, descriptor);
    const page = await storeFailure("nothing was read", () =>
      admin.search({ prefix: wanted, from, most: limit }),
    );
    const known = new Map<string, readonly CounterOf[]>();
    const rows: { readonly counter: CounterOf; readonly target: Target }[] = [];
    const others: FoundView[] = [];
    for (const { key, level } of page.counters) {
      const parsed = parseKey(prefix, key);
      const counters = parsed === undefined ? undefined : this.#knownCounters(parsed, known);
      const counter = counters?.find((one) => one.key === key);
      if (counter !== undefined) rows.push({ counter, target: parsed! });
      // A counter of a rule: its window has ended.
      else if (!counters?.some(({ state }) => hasPrefix(key, state.stem)))
        others.push({ key, ...(level !== undefined && { count: level }) });
    }
    await this.#readAll([...known.values()]);
    const found = rows.map(({ counter, target }) => ({ ...describe(target), ...counterView(counter) }));
    return {
      counters: [...found, ...others],
      ...(page.next !== undefined && { next: page.next }),
    };
  }

  /** Sets the counters of a descriptor back to unused. @throws {AdminError} */
  async reset(target: Target, author: Author): Promise<ResetView> {
    const { admin, invalidate, audit } = this.#options;
    const counters = this.#countersOf(target, this.#matchOf(target));
    const before = await this.#read(counters);
    await storeFailure("the counters may have been reset, or not: look at them, and try again", () =>
      admin.reset(counters.map(({ state }): CounterPlace => state)),
    );
    invalidate(counters.map(({ state }) => state.stem));
    const after = before.map((view) => ({ key: view.key, count: 0 }));
    const done = ["the counters were reset"];
    await audit.add(author, "counters.reset", describe(target), before, after, done);
    return { ...describe(target), before, limits: await this.#readAfter(counters, done) };
  }

  async #readAfter(counters: readonly CounterOf[], done: readonly string[]) {
    return storeFailure("the new state could not be read", () => this.#readNow(counters), done);
  }

  #knownCounters(parsed: ParsedKey, known: Map<string, readonly CounterOf[]>) {
    const name = JSON.stringify(parsed);
    const before = known.get(name);
    if (before !== undefined) return before;
    const match = this.#ruleSet().match(parsed.domain, parsed.entries);
    if (match === undefined) return undefined;
    const counters = this.#countersOf(parsed, match);
    known.set(name, counters);
    return counters;
  }

  #ruleSet(): RuleSet {
    const ruleSet = this.#options.ruleSet();
    if (ruleSet === undefined) throw new AdminError("UNAVAILABLE", "no rate limit configuration is loaded");
    return ruleSet;
  }

  #matchOf({ domain, entries }: Target): Match {
    const ruleSet = this.#ruleSet();
    const match = ruleSet.match(domain, entries);
    if (match === undefined) throw new AdminError("NO_LIMIT", explainMatch(ruleSet, domain, entries).summary);
    return match;
  }

  #countersOf({ domain, entries }: Target, match: Match): readonly CounterOf[] {
    const seconds = Math.floor(this.#now() / 1000);
    return countersOf(this.#options.keyFormat, domain, entries, match, seconds);
  }

  #read(counters: readonly CounterOf[]): Promise<readonly CounterView[]> {
    return storeFailure("nothing was changed", () => this.#readNow(counters));
  }

  async #readNow(counters: readonly CounterOf[]): Promise<readonly CounterView[]> {
    await readCounters(this.#options.store, [counters], this.#now());
    return counters.map(counterView);
  }

  async #readAll(descriptors: readonly (readonly CounterOf[])[]): Promise<void> {
    // Batches, so that a large page does not delay the decisions of other callers.
    for (let at = 0; at < descriptors.length; at += READ_TOGETHER)
      await storeFailure("nothing was read", () =>
        readCounters(this.#options.store, descriptors.slice(at, at + READ_TOGETHER), this.#now()),
      );
  }
}

/** Descriptors whose counters are read at once. */
const READ_TOGETHER = 64;

function describe({ domain, entries }: Target): DescriptorView {
  return { domain, descriptor: descriptorText(entries) };
}
