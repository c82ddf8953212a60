/** The decisions of the log, as objects. `docs/decision-log.md` describes each field. */

export interface SampledDescriptor {
  readonly entries: readonly (readonly [key: string, value: string])[];
  readonly hits: number;
  /** Whether the key of this descriptor's counter is in the sample. Only such descriptors count in sums. */
  readonly sampled: boolean;
  readonly code: "OK" | "OVER_LIMIT";
  /** The other fields are absent if no rule matched. */
  readonly rule?: string;
  /** `basic.yaml:12`. Absent if the limit came with the request. */
  readonly file?: string;
  /** Absent for an unlimited rule, like the rest. */
  readonly limit?: {
    readonly requests_per_unit: number;
    readonly unit: string;
    /** Absent: 1. */
    readonly unit_multiplier?: number;
  };
  /** The counter after the request. Absent if the store did not count. */
  readonly count?: number;
  readonly remaining?: number;
  /** Seconds. */
  readonly reset?: number;
}

/** One line of the log. */
export interface SampledDecision {
  /** RFC 3339, UTC, with milliseconds. */
  readonly time: string;
  /** `DECISION_LOG_SAMPLE` */
  readonly rate: number;
  /** `sample` if at least one descriptor is sampled. */
  readonly reason: "sample" | "refusal";
  readonly domain: string;
  readonly code: "OK" | "OVER_LIMIT";
  readonly duration_us: number;
  readonly descriptors: readonly SampledDescriptor[];
}

export interface DecisionFeed {
  /**
   * Calls `listener` with each decision of all threads that `DECISION_LOG_SAMPLE` and
   * `DECISION_LOG_REFUSALS_PER_SECOND` choose, also if `DECISION_LOG` is off. Returns a function that ends the
   * subscription. Threads send decisions in batches, and drop what does not fit in a bounded queue. Without subscribers
   * and without a log, decisions pay nothing.
   */
  subscribe(listener: (decision: SampledDecision) => void): () => void;
}
