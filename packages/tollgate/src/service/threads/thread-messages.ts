import type { EmbeddedStoreShare } from "../../counters/embedded/embedded-store.ts";
import type { Certificates } from "../../listeners/server-tls.ts";
import type { LineBatch } from "../../observe/decision-log/outbox.ts";
import type { Level } from "../../observe/log.ts";
import type { StackSample } from "../../observe/profiling/call-tree.ts";
import type { SampledKind } from "../../observe/profiling/profiler.ts";
import type { MetricKey } from "../../observe/statistics.ts";
import type { CountedRule } from "../../observe/top-keys/thread-top-keys.ts";
import type { AdjustmentRecord } from "../../overrides/record.ts";
import type { CompiledRules } from "../../rules/compiled-rules.ts";
import type { Environment } from "../../settings/read-values.ts";
import type { BinnedDurations } from "./duration-bins.ts";

/** The start data of a thread that serves gRPC. */
export interface ThreadStart {
  /** The thread loads its own settings from it, because settings cannot be passed between threads. */
  readonly environment: Environment;
  /** The counters of this process, if it counts any. */
  readonly embedded: EmbeddedStoreShare | undefined;
  /** The memory that the over-limit caches of this process share, if they are on. */
  readonly invalidations: SharedArrayBuffer | undefined;
  /** Number of parts into which the limits of the process are divided: pool size, local cache, circuit breaker. */
  readonly parts: number;
  /** The port that the first thread bound; 0 for the first thread itself if any port will do. */
  readonly port: number;
  readonly level: Level;
  readonly healthy: boolean;
  readonly recordsDecisions: boolean;
  readonly rules: CompiledRules | undefined;
  readonly overrides: readonly AdjustmentRecord[];
  readonly certificates: Certificates | undefined;
}

/** A message of the main thread to a thread. */
export type ToThread =
  | { readonly kind: "rules"; readonly rules: CompiledRules }
  /** The thread answers with `applied` and the same number. */
  | {
      readonly kind: "overrides";
      readonly number: number;
      readonly records: readonly AdjustmentRecord[];
    }
  | { readonly kind: "health"; readonly healthy: boolean }
  | { readonly kind: "level"; readonly level: Level }
  | { readonly kind: "certificates"; readonly certificates: Certificates }
  /** The thread answers with `statistics` and the same number. */
  | { readonly kind: "collect"; readonly number: number }
  /** Whether the thread records decisions. */
  | { readonly kind: "record"; readonly active: boolean }
  /** The main thread has taken recorded decisions of this size. */
  | { readonly kind: "decisionsTaken"; readonly size: number }
  /** The thread answers with `topKeys` and the same number. */
  | {
      readonly kind: "topKeys";
      readonly number: number;
      /** Keys to list of each rule. */
      readonly most: number;
      readonly rule: string | undefined;
    }
  /** The thread answers with `connections` and the same number. */
  | { readonly kind: "connections"; readonly number: number }
  /** Asks the callers of some connections to connect again. */
  | { readonly kind: "release"; readonly connections: number }
  /** The thread answers with `samples` and the same number. */
  | {
      readonly kind: "profile";
      readonly number: number;
      readonly profile: SampledKind;
      readonly seconds: number;
    }
  /** The thread answers with `drained` and then exits. */
  | { readonly kind: "drain"; readonly timeout: number };

/** A message of a thread to the main thread. */
export type FromThread =
  | { readonly kind: "listening"; readonly address: string; readonly port: number }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "statistics"; readonly number: number; readonly figures: ThreadFigures }
  | { readonly kind: "samples"; readonly number: number; readonly samples: readonly StackSample[] }
  | { readonly kind: "topKeys"; readonly number: number; readonly rules: readonly CountedRule[] }
  /** Recorded decisions. The main thread answers with `decisionsTaken`. */
  | { readonly kind: "decisions"; readonly batch: LineBatch }
  | { readonly kind: "connections"; readonly number: number; readonly connections: number }
  | { readonly kind: "durations"; readonly timer: string; readonly durations: BinnedDurations }
  | { readonly kind: "component"; readonly name: string; readonly fault: string | undefined }
  | { readonly kind: "applied"; readonly number: number }
  /** Refunds lowered counters whose stems have these slots in `invalidations.ts`. */
  | { readonly kind: "lowered"; readonly slots: readonly number[] }
  | { readonly kind: "drained"; readonly figures: ThreadFigures };

/** The figures of a thread since the last message; without those that did not change. */
export interface ThreadFigures {
  readonly rules: readonly RuleFigures[];
  readonly notFound: readonly (readonly [domain: string, increase: number])[];
  readonly counters: readonly (readonly [name: string, increase: number])[];
  /** Current values, not increases. */
  readonly gauges: readonly (readonly [name: string, value: number])[];
  readonly durations: readonly (readonly [timer: string, durations: BinnedDurations])[];
}

export interface RuleFigures {
  readonly key: MetricKey;
  readonly fromRequest: boolean;
  /** Increases in the order of {@link ruleFields}. */
  readonly increases: readonly number[];
  /** Increases in the order of {@link reservationFields}. Absent for a rule without reservations. */
  readonly reservations?: readonly number[];
}

export const reservationFields = ["reserved", "released", "expired", "committed"] as const;

export const ruleFields = [
  "totalHits",
  "overLimit",
  "nearLimit",
  "withinLimit",
  "shadowMode",
  "overLimitWithLocalCache",
  "totalNegativeHits",
] as const;
