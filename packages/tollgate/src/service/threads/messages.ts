import type { EmbeddedStoreShare } from "../../counters/embedded/embedded-store.ts";
import type { Certificates } from "../../listeners/grpc-listener.ts";
import type { Level } from "../../observe/log.ts";
import type { StackSample } from "../../observe/profiling/call-tree.ts";
import type { SampledKind } from "../../observe/profiling/profiler.ts";
import type { MetricKey } from "../../observe/statistics.ts";
import type { RuleDrafts } from "../../rules/rule-set.ts";
import type { Environment } from "../../settings/reading.ts";
import type { BinnedDurations } from "./duration-bins.ts";

/** What a thread that serves gRPC is started with. */
export interface ThreadStart {
  /** The thread reads its settings from it anew: what they hold cannot all be passed between threads. */
  readonly environment: Environment;
  /** The counters of this process, where they are counted in it. */
  readonly embedded: EmbeddedStoreShare | undefined;
  /** What the over-limit caches of this process share, where there are some. */
  readonly invalidations: SharedArrayBuffer | undefined;
  /** Into how many parts the figures of the process are divided: pool size, local cache, circuit breaker. */
  readonly parts: number;
  /** As bound by the first thread; 0 for the first itself where any will do. */
  readonly port: number;
  readonly level: Level;
  readonly healthy: boolean;
  readonly rules: RuleDrafts | undefined;
  readonly certificates: Certificates | undefined;
}

/** From the main thread. */
export type ToThread =
  | { readonly kind: "rules"; readonly rules: RuleDrafts }
  | { readonly kind: "health"; readonly healthy: boolean }
  | { readonly kind: "level"; readonly level: Level }
  | { readonly kind: "certificates"; readonly certificates: Certificates }
  /** Answered by `statistics` with the same number. */
  | { readonly kind: "collect"; readonly number: number }
  /** Answered by `samples` with the same number. */
  | {
      readonly kind: "profile";
      readonly number: number;
      readonly profile: SampledKind;
      readonly seconds: number;
    }
  /** Answered by `drained`, and then by the thread's end. */
  | { readonly kind: "drain"; readonly timeout: number };

/** To the main thread. */
export type FromThread =
  | { readonly kind: "listening"; readonly address: string; readonly port: number }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "statistics"; readonly number: number; readonly figures: ThreadFigures }
  | { readonly kind: "samples"; readonly number: number; readonly samples: readonly StackSample[] }
  | { readonly kind: "durations"; readonly timer: string; readonly durations: BinnedDurations }
  | { readonly kind: "component"; readonly name: string; readonly fault: string | undefined }
  | { readonly kind: "drained"; readonly figures: ThreadFigures };

/** What a thread has counted since it was last asked; what did not change is left out. */
export interface ThreadFigures {
  readonly rules: readonly RuleFigures[];
  readonly notFound: readonly (readonly [domain: string, increase: number])[];
  readonly counters: readonly (readonly [name: string, increase: number])[];
  /** Present values, not increases. */
  readonly gauges: readonly (readonly [name: string, value: number])[];
  readonly durations: readonly (readonly [timer: string, durations: BinnedDurations])[];
}

export interface RuleFigures {
  readonly key: MetricKey;
  readonly fromRequest: boolean;
  /** In the order of {@link ruleFields}. */
  readonly increases: readonly number[];
}

export const ruleFields = [
  "totalHits",
  "overLimit",
  "nearLimit",
  "withinLimit",
  "shadowMode",
  "overLimitWithLocalCache",
] as const;
