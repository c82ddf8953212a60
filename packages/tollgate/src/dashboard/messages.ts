/** The messages that the dashboard's page receives. The page imports these types, and nothing else of the service. */

/** Seconds between two points of a history. */
export const SLOT_SECONDS = 5;
/** Points of a history: the last five minutes. */
export const SLOTS = 60;

/** Hits per second. */
export interface Rates {
  readonly hits: number;
  readonly near: number;
  /** Hits above the limit that were refused. */
  readonly refused: number;
  /** Hits above the limit that a rule in shadow mode allowed. */
  readonly shadowed: number;
}

/** Hits per second in each slot, the oldest first. */
export interface History {
  readonly hits: readonly number[];
  readonly refused: readonly number[];
}

/** Statistics since the start, with the names of `/stats`. */
export interface Totals {
  readonly total_hits: number;
  readonly over_limit: number;
  readonly near_limit: number;
  readonly within_limit: number;
  readonly shadow_mode: number;
  readonly over_limit_with_local_cache: number;
  readonly total_negative_hits: number;
}

export interface RulePlace {
  readonly file: string;
  /** 0 for a rule of a management server. */
  readonly line: number;
  /** `file:line:column`, or the resource and its field. */
  readonly text: string;
}

/** The rest of a limit: in the rule's only counter, or in that of its key with the most hits. */
export interface Left {
  /** The key that was asked for, if the rule has a counter for each. */
  readonly key?: string;
  readonly used: number;
  readonly remaining: number;
  readonly resetSeconds?: number;
}

/** One rule, or one metric key of a rule with `detailed_metric`. */
export interface RuleRow {
  /** The domain and the levels, joined by dots: statistics are `ratelimit.service.rate_limit.<key>.<stat>`. */
  readonly key: string;
  readonly domain: string;
  /** `request`: the limit came with a request. `removed`: the configuration no longer has the rule. */
  readonly origin: "configured" | "request" | "removed";
  /** `10 per second`; empty if the rule is not in the configuration. */
  readonly limit: string;
  /** One limit of a rule that has several: only its refusals are counted. */
  readonly isOneOfSeveral?: true;
  readonly name: string;
  readonly modes: readonly ("shadow" | "quota" | "unlimited")[];
  readonly place?: RulePlace;
  /** The domain and the levels as the configuration writes them. */
  readonly rule?: string;
  readonly rates: Rates;
  /** Absent if the rule had no hits for five minutes. */
  readonly history?: History;
  /** Absent for a rule whose statistics are kept by value, if none of its values had hits lately. */
  readonly totals?: Totals;
  readonly left?: Left;
}

export interface RulePage {
  readonly rows: readonly RuleRow[];
  readonly offset: number;
  /** Rules that match the search. */
  readonly matching: number;
  readonly configured: number;
  /** Rules with hits in the last five minutes. */
  readonly active: number;
}

export interface StoreState {
  /** `embedded`, `kvstore` or `objcache`. */
  readonly kind: string;
  /** The treatment of calls while the store is unavailable; absent for the embedded store. */
  readonly failureMode?: string;
  /** Whether the circuit breaker is open. */
  readonly degraded: boolean;
  readonly degradedSeconds?: number;
  readonly errorsPerSecond: number;
  /** Statistics of the store, its pools and the over-limit cache, without the prefix `ratelimit.`. */
  readonly gauges: readonly (readonly [name: string, value: number])[];
}

export interface ThreadState {
  readonly name: string;
  /** 0 to 1, since the last frame. */
  readonly utilization: number;
  readonly connections?: number;
}

export interface ProcessState {
  readonly version: string;
  readonly uptimeSeconds: number;
  readonly threads: readonly ThreadState[];
  readonly lagP99Ms: number;
  readonly lagMaxMs: number;
  readonly rss: number;
  readonly heapUsed: number;
  readonly heapTotal: number;
  readonly external: number;
}

export interface CallState {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Failed calls per second, by kind; without kinds that never occurred. */
  readonly errors: readonly (readonly [kind: string, perSecond: number, total: number])[];
}

/** All of the service at one moment. Sent each second. */
export interface Frame {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The lines of `/healthcheck`; empty if healthy. */
  readonly faults: readonly string[];
  /** `SHADOW_MODE` */
  readonly shadowMode: boolean;
  readonly domains: number;
  readonly rates: Rates;
  readonly unknownDomainPerSecond: number;
  readonly history: History;
  readonly calls: CallState;
  readonly store: StoreState;
  readonly process: ProcessState;
  /** The rules that refuse most, whatever the viewer searches for; among them the limits of rules that have several. */
  readonly refusing: readonly RuleRow[];
  readonly rules: RulePage;
  /** Grows with each load of the configuration, successful or not. */
  readonly loads: number;
  readonly lastLoadFailed: boolean;
  readonly keys: KeysOfRules;
}

export interface KeysOfRules {
  /** Whether this viewer may see keys. If not, the reason. */
  readonly shown: boolean;
  readonly reason?: string;
  /** Whether the service counts keys (`TOP_KEYS`). */
  readonly counted: boolean;
  /** The keys of the rules that refuse most, and of the opened one. */
  readonly rules: readonly RuleKeys[];
}

/** One key of a rule. */
export interface KeyCount {
  readonly entries: readonly (readonly [key: string, value: string])[];
  /** The least number of hits. The key has at most `error` more. */
  readonly hits: number;
  readonly error: number;
}

/** The keys of a rule with the most hits, and with the most refused ones. */
export interface RuleKeys {
  /** The name of the rule, as {@link RuleRow.rule}. */
  readonly rule: string;
  /** The time span, in milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly hits: number;
  readonly refused: number;
  readonly keys: readonly KeyCount[];
  readonly refusedKeys: readonly KeyCount[];
}

export interface LoadEntry {
  readonly time: number;
  readonly succeeded: boolean;
  readonly domains: number;
  readonly rules: number;
  /** Number of repetitions of the same failure. */
  readonly repeated: number;
  readonly errors: number;
  readonly warnings: number;
  readonly diagnostics: readonly LoadDiagnostic[];
}

export interface LoadDiagnostic {
  readonly severity: "error" | "warning";
  readonly code: string;
  readonly message: string;
  readonly place: RulePlace;
  readonly sourceLine?: string;
}

export interface SourceText {
  readonly file: string;
  /** The number of the first line of `lines`. */
  readonly first: number;
  readonly lines: readonly string[];
  readonly total: number;
}
