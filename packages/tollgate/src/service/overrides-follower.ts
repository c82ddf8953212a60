/**
 * Keeps the overrides of this process equal to those in the store: reads them at start, after each message of another
 * replica, and, in case a message was lost, whenever their version has changed at a poll.
 */
import type { AdminRecords } from "../counters/counter-admin.ts";
import type { Logger } from "../observe/log.ts";
import { type AdjustmentRecord, readRecords } from "../overrides/record.ts";
import { type ActiveOverrides, OverrideTable } from "../overrides/table.ts";

export interface OverridesFollowerOptions {
  readonly records: AdminRecords;
  /** Milliseconds between two polls. 0 for records that no other process changes. */
  readonly poll: number;
  readonly log: Logger;
  /** Gives the records to the other threads. Resolves when they use them. */
  readonly onChange: (records: readonly AdjustmentRecord[]) => Promise<void>;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

/** The poll of a store that other processes change, in milliseconds. A change is used within a second. */
export const OVERRIDES_POLL = 400;
/** A timer with a longer delay fires at once. */
const LONGEST_DELAY = 2 ** 31 - 1;

export class OverridesFollower implements ActiveOverrides {
  readonly #options: OverridesFollowerOptions;
  readonly now: () => number;
  #version = 0;
  #records: readonly AdjustmentRecord[] = [];
  #table: OverrideTable | undefined;
  #timer: NodeJS.Timeout | undefined;
  #end: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;
  #again = false;
  /** Until the next success, so that a user without permission is told once. */
  #warned = false;
  #closed = false;
  /** Resolves after the first attempt to read them. */
  readonly first: Promise<void>;

  constructor(options: OverridesFollowerOptions) {
    this.#options = options;
    this.now = options.now ?? Date.now;
    this.first = this.check();
    if (options.poll > 0) this.#timer = setInterval(() => void this.check(), options.poll).unref();
  }

  get current(): OverrideTable | undefined {
    return this.#table;
  }

  /** All records, also those that have ended since the last change. */
  get records(): readonly AdjustmentRecord[] {
    return this.#records;
  }

  /** Reads the records if their version has changed. Never rejects. */
  check(): Promise<void> {
    // A change during a read needs another one.
    this.#again = this.#reading !== undefined;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
      if (this.#again && !this.#closed) void this.check();
    });
    return this.#reading;
  }

  /** Uses records that this process has written. */
  async use(version: number, records: readonly AdjustmentRecord[]): Promise<void> {
    // Another process may have written newer ones meanwhile.
    if (version <= this.#version) return;
    this.#version = version;
    this.#records = records;
    this.#build();
    await this.#options.onChange(records);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#end);
  }

  async #read(): Promise<void> {
    const { records: store, log } = this.#options;
    const begun = this.#version;
    try {
      const known = await store.overridesVersion();
      this.#warned = false;
      if (known === this.#version) return;
      const { version, text } = await store.readOverrides();
      const records = readRecords(text);
      // This process has written newer ones meanwhile.
      if (this.#version !== begun) return;
      // A store that has lost its data starts again at 0.
      if (version < begun) this.#version = -1;
      await this.use(version, records);
    } catch (error) {
      if (!this.#warned && !this.#closed)
        log.warn(`cannot read the overrides, the earlier ones stay in use: ${(error as Error).message}`);
      this.#warned = true;
    }
  }

  /** Builds the table anew when a record ends, so that decisions without any need no lookup. */
  #build(): void {
    const now = this.now();
    this.#table = OverrideTable.of(this.#records, now);
    clearTimeout(this.#end);
    const end = this.#table?.nextEnd;
    if (end === undefined || this.#closed) return;
    this.#end = setTimeout(() => this.#build(), Math.min(Math.max(end - now, 1), LONGEST_DELAY)).unref();
  }
}
