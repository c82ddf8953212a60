import type { StatisticKind } from "../../catalogue.ts";
import type { Tag } from "../../names.ts";
import type { RuleLabels } from "../../series.ts";

/** A statistic to map to a metric. */
export interface Subject {
  /** The full name, without tags. */
  readonly name: string;
  readonly kind: StatisticKind;
  /** The labels of a rule's statistic. If present, `stat` is the last part of the name. */
  readonly rule: RuleLabels | undefined;
  readonly stat: string;
  /** The tags of the name itself, then `EXTRA_TAGS`. */
  readonly tags: readonly Tag[];
}

export interface HistogramShape {
  readonly type: "histogram";
  /** Upper bounds in ascending order, without infinity. */
  readonly bounds: readonly number[];
}

export interface SummaryShape {
  readonly type: "summary";
  readonly quantiles: readonly number[];
  /** Milliseconds for which an observation counts for the quantiles. */
  readonly maxAge: number;
  /** The number of parts of `maxAge`. */
  readonly ageBuckets: number;
  /** Maximum samples of each part. */
  readonly capacity: number;
}

export type ObserverShape = HistogramShape | SummaryShape;

/** The metric, labels and shape that a statistic is mapped to. */
export interface Mapped {
  /** A valid metric name. */
  readonly metric: string;
  /** Label names are valid and unique. */
  readonly labels: readonly Tag[];
  readonly help: string;
  /** Factor for values. */
  readonly scale: number;
  /** The observer of timers. */
  readonly observer: ObserverShape;
  /** Hides a series that has not changed for this many milliseconds; 0: never. */
  readonly ttl: number;
}

/** Maps a statistic to a metric; undefined drops the statistic. */
export type Mapping = (subject: Subject) => Mapped | undefined;

/** Converts a text to a label name that both formats allow. */
export function labelName(text: string): string {
  return text.replace(/[^a-zA-Z0-9_]/g, "_").replace(/^(?=\d)/, "_");
}
