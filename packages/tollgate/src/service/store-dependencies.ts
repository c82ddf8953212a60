import type { EmbeddedStore } from "../counters/embedded/embedded-store.ts";
import type { Invalidations } from "../counters/invalidations.ts";
import type { Logger } from "../observe/log.ts";
import type { Statistics } from "../observe/statistics.ts";
import type { Tracing } from "../observe/tracing/tracing.ts";

/** The parts of the service that a store needs. */
export interface StoreDependencies {
  readonly statistics: Statistics;
  readonly log: Logger;
  readonly tracing: Tracing;
  /** Number of parts into which the limits of the process are divided; this thread has one of them. */
  readonly parts: number;
  /** The counters of this process, if it counts any. */
  readonly embedded: EmbeddedStore | undefined;
  /** Shared by the over-limit caches of this process; undefined without such caches. */
  readonly invalidations: Invalidations | undefined;
  /** A refund in this thread brought a counter from above its limit to its limit or below. */
  readonly onLowered: (stem: string) => void;
  /** Adds a health component. The reporter takes a fault, or undefined when the fault is over. */
  readonly createReporter: (name: string) => (fault: string | undefined) => void;
}
