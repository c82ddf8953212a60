import type { PoolGauges } from "./connection-pool.ts";
import type { Expiries } from "./expiries.ts";
import type { ResolvedOptions } from "./kvstore-options.ts";

/** What all servers of one instance share. */
export interface Dependencies {
  readonly options: ResolvedOptions;
  readonly expiries: Expiries;
  readonly gauges: PoolGauges;
  /** The number of standing connections changed, or a first attempt to connect has ended. */
  changed(): void;
  /** A connection was lost, or could not be made. */
  failed(error: Error): void;
  log(level: "info" | "warn", message: string): void;
}
