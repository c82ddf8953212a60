/** The overrides of a thread that gets them from the main thread. */
import type { AdjustmentRecord } from "./record.ts";
import { type ActiveOverrides, OverrideTable } from "./table.ts";

export class HeldOverrides implements ActiveOverrides {
  readonly now: () => number;
  #table: OverrideTable | undefined;

  constructor(records: readonly AdjustmentRecord[], now: () => number = Date.now) {
    this.now = now;
    this.use(records);
  }

  get current(): OverrideTable | undefined {
    return this.#table;
  }

  use(records: readonly AdjustmentRecord[]): void {
    this.#table = OverrideTable.of(records, this.now());
  }
}
