/**
 * The interface for the administration of a store, beside `CounterStore`. It is for operators, not for decisions: it may
 * take milliseconds, and it always returns a promise. Counters are read with `CounterStore.acquire`.
 */
import type { Algorithm } from "./algorithms/algorithm.ts";
import type { AcquireLimit } from "./store.ts";

/** The place of one limit's state in the store. */
export interface CounterPlace {
  /** See `AcquireLimit`. */
  readonly stem: string;
  readonly algorithm: Algorithm;
  /** 0 for an algorithm with one state for all time. */
  readonly windowStart: number;
  /** Seconds. */
  readonly windowSize: number;
}

/** Hits above a limit, added to its state once. Only for an algorithm with `grant`. */
export interface Grant {
  readonly limit: AcquireLimit;
  /** Whether the limit is one of a list. */
  readonly isListed: boolean;
  readonly hits: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A counter that a search found. */
export interface FoundCounter {
  /** The whole key with its prefix. A `#` and a hash instead of the descriptor if the store keeps a digest. */
  readonly key: string;
  /** The first word of its state. Undefined if the key holds something else. */
  readonly level: number | undefined;
}

export interface FoundCounters {
  readonly counters: readonly FoundCounter[];
  /** Pass it to the next call to go on; undefined at the end. */
  readonly next: string | undefined;
}

export interface CounterSearch {
  /** The beginning of the keys, without regard to the hash tag of a list. */
  readonly prefix: string;
  /** `next` of the last page; empty for the first one. */
  readonly from: string;
  /** Counters of one page. A page may have fewer, even none, before the end. */
  readonly most: number;
}

/** Small texts that operators share: they are the same for all threads, and for all replicas of a shared store. */
export interface AdminRecords {
  /** The overrides as a text, and a version that changes with it. Version 0 and an empty text if there are none. */
  readOverrides(): Promise<VersionedText>;
  /** The version alone. */
  overridesVersion(): Promise<number>;
  /** Replaces the overrides unless another caller did so after `version`. @returns the new version, or undefined */
  replaceOverrides(version: number, text: string): Promise<number | undefined>;
  /** Adds a line to the audit log, and drops the oldest ones. */
  addAudit(line: string): Promise<void>;
  /** The newest lines, newest first. */
  audit(most: number): Promise<readonly string[]>;
}

export interface VersionedText {
  readonly version: number;
  readonly text: string;
}

/** Audit lines that a store keeps. */
export const MAX_AUDIT_LINES = 1000;

export interface CounterAdmin {
  /**
   * Drops the states of one descriptor's limits, all of them in one step. A limit without a state is unused.
   * @throws {StoreError} nothing or everything may have been reset then
   */
  reset(places: readonly CounterPlace[]): Promise<void>;
  /** @throws {StoreError} the hits may have been added or not; also if the store cannot do it */
  grant(grant: Grant): Promise<void>;
  /** @throws {StoreError} also if the store cannot search */
  search(search: CounterSearch): Promise<FoundCounters>;
  /** Undefined if the store keeps no records that last. */
  readonly records: AdminRecords | undefined;
  close(): Promise<void>;
}

/** A fault of an operator's request that only the store can tell. */
export class AdminStoreError extends Error {
  override readonly name = "AdminStoreError";
  readonly code: "UNSUPPORTED" | "BAD_CURSOR";
  constructor(code: "UNSUPPORTED" | "BAD_CURSOR", message: string) {
    super(message);
    this.code = code;
  }
}

/** Whether a key begins with a prefix. The keys of a list have a hash tag around their common part. */
export function hasPrefix(key: string, prefix: string): boolean {
  return key.startsWith(prefix) || (key.startsWith("{") && key.startsWith(prefix, 1));
}
