import type { PoolGauges } from "./connection-pool.ts";
import type { KnownExpiries } from "./expiries.ts";
import type { ResolvedOptions } from "./kvstore-options.ts";

/** Dependencies that all servers of an instance share. */
export interface Dependencies {
  readonly options: ResolvedOptions;
  readonly expiries: KnownExpiries;
  readonly gauges: PoolGauges;
  /** Called when the number of open connections changed, and after the first attempt to connect. */
  changed(): void;
  /** A connection was lost, or could not be opened. */
  failed(error: Error): void;
  log(level: "info" | "warn", message: string): void;
}
