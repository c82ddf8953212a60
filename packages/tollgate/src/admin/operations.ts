/** The operations of an operator on counters, independent of HTTP. */
import { randomBytes } from "node:crypto";
import { type CounterAdmin, type CounterPlace, hasPrefix } from "../counters/counter-admin.ts";
import type { CounterOf } from "../decision/counters-of.ts";
import { keyPrefixOf, parseKey } from "../decision/parse-key.ts";
import { recordName } from "../overrides/overridden-rule.ts";
import type { GrantRecord } from "../overrides/record.ts";
import { MAX_TOKENS } from "../rules/limit.ts";
import { printable } from "../text/printable.ts";
import type { Adjustments } from "./adjustments.ts";
import { AdminError, invalid, storeFailure } from "./admin-error.ts";
import type { AuditLog } from "./audit-log.ts";
import { describe, type Target, type Targets } from "./targets.ts";
import { type CounterView, counterView, type DescriptorView } from "./views.ts";

export interface OperationsOptions {
  readonly targets: Targets;
  readonly adjustments: Adjustments;
  /** `CACHE_KEY_PREFIX` */
  readonly prefix: string;
  readonly admin: CounterAdmin;
  /** Drops the over-limit entries of these stems in all threads. Resolves when the other replicas were told. */
  readonly invalidate: (stems: readonly string[]) => Promise<void>;
  readonly audit: AuditLog;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
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
export type FoundView = (DescriptorView & CounterView) | { readonly key: string; readonly count: number };

export interface SearchView {
  readonly counters: readonly FoundView[];
  readonly next?: string;
}

export interface CountersView extends DescriptorView {
  readonly limits: readonly CounterView[];
  /** The changes by overrides and grants, as texts. */
  readonly notes?: readonly string[];
}

export interface ChangeView extends CountersView {
  readonly before: readonly CounterView[];
}

export class Operations {
  readonly #options: OperationsOptions;

  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  /** The counters of a descriptor. @throws {AdminError} */
  async get(target: Target): Promise<CountersView> {
    const { targets } = this.#options;
    const limits = await targets.read(targets.counters(target), "nothing was read");
    return { ...describe(target), limits, ...notesOf(targets.notes(target)) };
  }

  /** Counters whose descriptors begin with a text. @throws {AdminError} */
  async search({ domain, prefix: descriptor, limit, next: from }: SearchRequest): Promise<SearchView> {
    const { admin, prefix, targets } = this.#options;
    const wanted = keyPrefixOf(prefix, domain, descriptor);
    const page = await storeFailure("nothing was read", () =>
      admin.search({ prefix: wanted, from, most: limit }),
    );
    const known = new Map<string, readonly CounterOf[] | undefined>();
    const rows: { readonly counter: CounterOf; readonly target: Target }[] = [];
    const others: FoundView[] = [];
    for (const { key, level } of page.counters) {
      const target = parseKey(prefix, key);
      const name = JSON.stringify(target);
      if (target !== undefined && !known.has(name)) known.set(name, targets.known(target));
      const counters = known.get(name);
      const counter = counters?.find((one) => one.key === key);
      if (counter !== undefined) rows.push({ counter, target: target! });
      // Else it belongs to a window that has ended, or to open reservations, or it is not a counter.
      else if (level !== undefined && !counters?.some(({ state }) => hasPrefix(key, state.stem)))
        others.push({ key: printable(key), count: level });
    }
    await targets.readAll([...known.values()].filter((counters) => counters !== undefined));
    const found = rows.map(({ counter, target }) => ({ ...describe(target), ...counterView(counter) }));
    return {
      counters: [...found, ...others],
      ...(page.next !== undefined && { next: page.next }),
    };
  }

  /** Sets the counters of a descriptor back to unused. @throws {AdminError} */
  async reset(target: Target, author: Author): Promise<ChangeView> {
    const { admin, invalidate, audit, targets } = this.#options;
    const counters = targets.ownCounters(target);
    const before = await targets.read(counters);
    await storeFailure("the counters may have been reset, or not: look at them, and try again", () =>
      admin.reset(counters.map(({ state }): CounterPlace => state)),
    );
    await invalidate(counters.map(({ state }) => state.stem));
    const done = ["the counters were reset"];
    const after = before.map(({ key }) => ({ key, count: 0 }));
    await audit.add(author, "counters.reset", describe(target), before, after, done);
    return this.#changed(target, before, done);
  }

  /**
   * Raises a limit by some hits until its window ends. A sliding window has them for its length. A token bucket gets them
   * once, above its size.
   * @param name of the limit, for a list
   * @throws {AdminError}
   */
  async grant(target: Target, hits: number, name: string | undefined, author: Author): Promise<ChangeView> {
    const { adjustments, audit, invalidate, targets, now } = this.#options;
    const counter = limitOf(targets.ownCounters(target), name);
    const { algorithm, windowStart, windowSize, stem } = counter.state;
    if (algorithm.grant !== undefined) return this.#grantOnce(target, counter, hits, name, author);
    const expires = algorithm.perWindow ? (windowStart + windowSize) * 1000 : now() + windowSize * 1000;
    const record: GrantRecord = {
      kind: "grant",
      id: `grant-${randomBytes(6).toString("hex")}`,
      ...target,
      ...(name !== undefined && { limit: name }),
      hits,
      expires,
      by: author.name,
      at: now(),
      ...(author.reason !== undefined && { reason: author.reason }),
    };
    const before = await targets.read(targets.counters(target));
    await adjustments.change((records) => [...records, record]);
    await invalidate([stem]);
    const done = [`${hits} hits were granted until ${new Date(expires).toISOString()}`];
    const after = {
      hits,
      expires: new Date(expires).toISOString(),
      ...(name !== undefined && { limit: name }),
    };
    await audit.add(author, "counters.grant", describe(target), before, after, done);
    return this.#changed(target, before, done);
  }

  /** The store adds the hits to the state of the limit, so no replica can miss them. */
  async #grantOnce(
    target: Target,
    own: CounterOf,
    hits: number,
    name: string | undefined,
    author: Author,
  ): Promise<ChangeView> {
    const { admin, audit, targets, now } = this.#options;
    if (hits > MAX_TOKENS) throw invalid("hits", `must be at most ${MAX_TOKENS} for a token bucket`);
    const counters = targets.counters(target);
    const before = await targets.read(counters);
    // With its overrides: a smaller bucket would lose tokens. An override may have lifted it.
    const { state } = counters.find(({ key }) => key === own.key) ?? own;
    await storeFailure("the hits may have been granted, or not: look at the counter", () =>
      admin.grant({ limit: state, isListed: own.resolved.limit.isListed, hits, now: now() }),
    );
    const done = [`${hits} hits were granted, once`];
    const after = { hits, ...(name !== undefined && { limit: name }) };
    await audit.add(author, "counters.grant", describe(target), before, after, done);
    return this.#changed(target, before, done);
  }

  async #changed(
    target: Target,
    before: readonly CounterView[],
    done: readonly string[],
  ): Promise<ChangeView> {
    const { targets } = this.#options;
    const limits = await targets.read(targets.counters(target), "the new state could not be read", done);
    return { ...describe(target), before, limits, ...notesOf(targets.notes(target)) };
  }
}

/** The limit that an operator names. @throws {AdminError} */
export function limitOf(counters: readonly CounterOf[], name: string | undefined): CounterOf {
  const names = counters.map(({ resolved }) => recordName(resolved.limit));
  const found = counters[names.indexOf(name)];
  if (found !== undefined) return found;
  if (counters.length === 0)
    throw new AdminError("UNSUPPORTED", "the rule is unlimited: there is no limit to change");
  const listed = names.filter((one) => one !== undefined);
  const wrong =
    listed.length === 0
      ? "must be absent: the rule has one limit"
      : `must be the name of a limit of the list: ${listed.join(", ")}`;
  throw new AdminError("INVALID", `limit ${wrong}`, { field: "limit" });
}

function notesOf(notes: readonly string[]): { readonly notes?: readonly string[] } {
  return notes.length === 0 ? {} : { notes };
}
