/** Changes of the overrides and grants in the store. */
import type { AdminRecords } from "../counters/counter-admin.ts";
import {
  type AdjustmentRecord,
  isActive,
  MAX_RECORDS,
  MAX_RECORDS_BYTES,
  readRecords,
  recordsText,
} from "../overrides/record.ts";
import { AdminError, storeFailure } from "./admin-error.ts";

/** Attempts to change the records while other operators change them, too. */
const MOST_ATTEMPTS = 50;

export interface AdjustmentsOptions {
  /** Undefined if the store keeps no records. */
  readonly records: AdminRecords | undefined;
  /** Uses new records in all threads, and tells the other replicas. */
  readonly use: (version: number, records: readonly AdjustmentRecord[]) => Promise<void>;
  readonly now: () => number;
}

export class Adjustments {
  readonly #options: AdjustmentsOptions;
  /** The end of the last change. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: AdjustmentsOptions) {
    this.#options = options;
  }

  /** The active records. @throws {AdminError} */
  async all(): Promise<readonly AdjustmentRecord[]> {
    const store = this.#store();
    const { text } = await storeFailure("nothing was read", () => store.readOverrides());
    return this.#active(text);
  }

  /**
   * Replaces the records. Ended ones are removed.
   * @param change makes the new records from the active ones; may throw an `AdminError`, and then nothing changes
   * @throws {AdminError}
   */
  change(change: (records: readonly AdjustmentRecord[]) => readonly AdjustmentRecord[]): Promise<void> {
    // One after another: only changes of other replicas can come in between.
    const result = this.#last.then(() => this.#change(change));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #change(
    change: (records: readonly AdjustmentRecord[]) => readonly AdjustmentRecord[],
  ): Promise<void> {
    const store = this.#store();
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const { version, text } = await storeFailure("nothing was changed", () => store.readOverrides());
      const records = change(this.#active(text));
      const next = recordsText(records);
      check(records, next);
      const written = await storeFailure(
        "the change may have been made, or not: look at it, and try again",
        () => store.replaceOverrides(version, next),
      );
      if (written === undefined) continue;
      await this.#options.use(written, records);
      return;
    }
    throw new AdminError(
      "CONFLICT",
      `nothing was changed: during each of ${MOST_ATTEMPTS} attempts, another operator changed the overrides; try again`,
    );
  }

  #active(text: string): readonly AdjustmentRecord[] {
    try {
      const now = this.#options.now();
      return readRecords(text).filter((record) => isActive(record, now));
    } catch (cause) {
      throw new AdminError("UNAVAILABLE", `nothing was changed: ${(cause as Error).message}`, { cause });
    }
  }

  #store(): AdminRecords {
    const { records } = this.#options;
    if (records !== undefined) return records;
    throw new AdminError(
      "UNSUPPORTED",
      "there are no overrides and grants here: memcached may drop entries at any time, and OVERRIDES_ENABLED=false turns them off elsewhere. Change the rules instead",
    );
  }
}

function check(records: readonly AdjustmentRecord[], text: string): void {
  if (records.length > MAX_RECORDS)
    throw new AdminError(
      "CONFLICT",
      `there are ${MAX_RECORDS} overrides and grants already: remove one first`,
    );
  if (Buffer.byteLength(text) > MAX_RECORDS_BYTES)
    throw new AdminError(
      "CONFLICT",
      `all overrides together take more than ${MAX_RECORDS_BYTES} bytes: remove one first`,
    );
}
