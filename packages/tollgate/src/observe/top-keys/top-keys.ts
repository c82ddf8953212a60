/** The top keys, as the debug port, the dashboard and the metrics show them. */

/** One key of a rule: the entries of its descriptors, with masked values where `TOP_KEYS_MASK` says so. */
export interface TopKey {
  readonly entries: readonly (readonly [key: string, value: string])[];
  /** The least number of hits that the key has. */
  readonly hits: number;
  /** Most hits that the key can have beyond `hits`. 0 if the number is exact. */
  readonly error: number;
}

/** The keys of one rule. */
export interface RuleTopKeys {
  /** The domain and the levels of the rule, joined by dots: `basic.key1_value1`. */
  readonly rule: string;
  /** The place of the rule in the configuration: `basic.yaml:12`. Empty for limits that come with requests. */
  readonly file: string;
  /** All hits, and all refused hits, of the time span. Exact. */
  readonly hits: number;
  readonly refused: number;
  /** Those with the most hits, most first. */
  readonly keys: readonly TopKey[];
  /** Those with the most refused hits, most first. */
  readonly refusedKeys: readonly TopKey[];
}

/** A refused key beside those of other rules. */
export interface RefusedKey extends TopKey {
  readonly rule: string;
  readonly file: string;
}

export interface TopKeysSnapshot {
  /** The time span, in milliseconds since the epoch: between half of `TOP_KEYS_WINDOW` and all of it. */
  readonly from: number;
  readonly to: number;
  /** Rules with hits, most refused first, then most hits first. */
  readonly rules: readonly RuleTopKeys[];
  /** The most refused keys of all these rules, most first. */
  readonly refused: readonly RefusedKey[];
}

export interface TopKeysQuery {
  /** Only this rule. Default: all. */
  readonly rule?: string | undefined;
  /** Keys of each list. Default 10, at most {@link MAX_LISTED}. */
  readonly n?: number | undefined;
}

export const MAX_LISTED = 1000;

export interface TopKeys {
  /** `TOP_KEYS`. If false, snapshots are empty. */
  readonly enabled: boolean;
  /** Reads the keys of all threads. Each thread sends only as many keys as the answer can need. */
  snapshot(query?: TopKeysQuery): Promise<TopKeysSnapshot>;
}
