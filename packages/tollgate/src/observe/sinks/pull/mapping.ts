import type { StatisticKind } from "../../catalogue.ts";
import type { Tag } from "../../names.ts";
import type { RuleLabels } from "../../series.ts";

/** A statistic that wants a place among the metrics. */
export interface Subject {
  /** The full name, without tags. */
  readonly name: string;
  readonly kind: StatisticKind;
  /** Of a rule's statistic; with them, `stat` is the last part of the name. */
  readonly rule: RuleLabels | undefined;
  readonly stat: string;
  /** The tags in the name itself, then `EXTRA_TAGS`. */
  readonly tags: readonly Tag[];
}

export interface HistogramShape {
  readonly type: "histogram";
  /** Upper bounds, rising, without infinity. */
  readonly bounds: readonly number[];
}

export interface SummaryShape {
  readonly type: "summary";
  readonly quantiles: readonly number[];
  /** Milliseconds that an observation counts for the quantiles. */
  readonly maxAge: number;
  /** Into how many parts `maxAge` is cut. */
  readonly ageBuckets: number;
  /** Samples kept of each part. */
  readonly capacity: number;
}

export type ObserverShape = HistogramShape | SummaryShape;

/** The place that a statistic gets. */
export interface Mapped {
  /** A valid metric name. */
  readonly metric: string;
  /** Label names are valid and not repeated. */
  readonly labels: readonly Tag[];
  readonly help: string;
  /** What a value is multiplied with. */
  readonly scale: number;
  /** For timers. */
  readonly observer: ObserverShape;
  /** A series that did not change for so many milliseconds is not shown; 0 for ever. */
  readonly ttl: number;
}

/** From statistics to metrics; undefined where a statistic is dropped. */
export type Mapping = (subject: Subject) => Mapped | undefined;

/** Label names as both formats take them. */
export function labelName(text: string): string {
  return text.replace(/[^a-zA-Z0-9_]/g, "_").replace(/^(?=\d)/, "_");
}
