import type { FieldReader, Fields } from "./field-reader.ts";
import type { ObserverShape } from "./mapping.ts";

const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const DEFAULT_QUANTILES = [0.5, 0.9, 0.99];
/** The keys of a histogram's or summary's options, in a mapping or in `defaults`. */
export const OBSERVER_KEYS = [
  "observer_type",
  "timer_type",
  "buckets",
  "quantiles",
  "summary_options",
  "histogram_options",
];

/** The options of both kinds. A mapping uses those of its `type`. */
export interface ObserverOptions {
  readonly type: string;
  readonly buckets: readonly number[];
  readonly quantiles: readonly number[];
  readonly maxAge: number;
  readonly ageBuckets: number;
  readonly capacity: number;
}

/** The options in `defaults` of the file, for the mappings that have none. */
export function readDefaults(read: FieldReader, fields: Fields): ObserverOptions {
  return readObserver(read, fields, "defaults", {
    type: "summary",
    buckets: DEFAULT_BUCKETS,
    quantiles: DEFAULT_QUANTILES,
    maxAge: 600_000,
    ageBuckets: 5,
    capacity: 500,
  });
}

/** Also reads the format's older spelling: `timer_type`, `buckets` and `quantiles` at the top. */
export function readObserver(
  read: FieldReader,
  fields: Fields,
  where: string,
  defaults: ObserverOptions,
): ObserverOptions {
  const types = ["histogram", "summary"];
  const older = read.oneOf(fields, "timer_type", types, where);
  const type = read.oneOf(fields, "observer_type", types, where) ?? older ?? defaults.type;
  const histogram = readOptions(read, fields, "histogram_options", where, [
    "buckets",
    "native_histogram_bucket_factor",
    "native_histogram_max_buckets",
  ]);
  const summary = readOptions(read, fields, "summary_options", where, [
    "quantiles",
    "max_age",
    "age_buckets",
    "buf_cap",
  ]);
  if (where !== "defaults") {
    if (type === "histogram" && summary !== undefined)
      read.fault(where, "is a histogram but has summary_options");
    if (type === "summary" && histogram !== undefined)
      read.fault(where, "is a summary but has histogram_options");
  }
  if (fields.buckets != null && histogram?.buckets != null)
    read.fault(where, "has buckets both at the top and in histogram_options");
  if (fields.quantiles != null && summary?.quantiles != null)
    read.fault(where, "has quantiles both at the top and in summary_options");
  const options = summary ?? {};
  return {
    type,
    buckets: readBuckets(read, histogram?.buckets ?? fields.buckets, where) ?? defaults.buckets,
    quantiles: readQuantiles(read, options.quantiles ?? fields.quantiles, where) ?? defaults.quantiles,
    maxAge: read.duration(options, "max_age", where) || defaults.maxAge,
    ageBuckets: read.count(options, "age_buckets", 100, where) ?? defaults.ageBuckets,
    capacity: read.count(options, "buf_cap", 100_000, where) ?? defaults.capacity,
  };
}

function readOptions(
  read: FieldReader,
  fields: Fields,
  key: string,
  where: string,
  keys: readonly string[],
): Fields | undefined {
  return fields[key] == null ? undefined : read.fields(fields[key], `${where}: ${key}`, keys);
}

function readBuckets(read: FieldReader, value: unknown, where: string): readonly number[] | undefined {
  if (value == null || (Array.isArray(value) && value.length === 0)) return undefined;
  if (!Array.isArray(value) || !value.every((bound) => typeof bound === "number")) {
    read.fault(where, "buckets must be a list of numbers");
    return undefined;
  }
  if (value.some((bound, i) => i > 0 && bound <= value[i - 1]!))
    read.fault(where, "buckets must be in ascending order");
  return value.filter((bound) => Number.isFinite(bound));
}

function readQuantiles(read: FieldReader, value: unknown, where: string): readonly number[] | undefined {
  if (value == null || (Array.isArray(value) && value.length === 0)) return undefined;
  if (!Array.isArray(value)) {
    read.fault(where, "quantiles must be a list of { quantile, error }");
    return undefined;
  }
  return value.map((each) => {
    const fields = read.fields(each, `${where}: quantiles`, ["quantile", "error"]);
    const quantile = read.number(fields, "quantile", where) ?? Number.NaN;
    read.number(fields, "error", where);
    if (!(quantile >= 0 && quantile <= 1)) read.fault(where, "a quantile must be between 0 and 1");
    return quantile;
  });
}

export function shapeOf(observer: ObserverOptions): ObserverShape {
  const { quantiles, maxAge, ageBuckets, capacity } = observer;
  return observer.type === "histogram"
    ? { type: "histogram", bounds: observer.buckets }
    : { type: "summary", quantiles, maxAge, ageBuckets, capacity };
}
