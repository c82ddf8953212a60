import type { RefusedKey, TopKeys } from "./top-keys.ts";

/** A gauge of a metric family, for the pull sink. */
export interface KeyGauge {
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly value: number;
}

/** A metric family whose series change from scrape to scrape. */
export interface KeyFamily {
  readonly metric: string;
  readonly help: string;
  readonly gauges: readonly KeyGauge[];
}

/**
 * The keys with the most hits, and the most refused ones, of all rules together: at most `n` of each.
 * @param n `TOP_KEYS_METRICS`
 */
export async function topKeysMetrics(topKeys: TopKeys, n: number): Promise<readonly KeyFamily[]> {
  const { rules, refused } = await topKeys.snapshot({ n });
  const all = rules
    .flatMap(({ rule, file, keys }) => keys.map((key) => ({ rule, file, ...key })))
    .sort((a, b) => b.hits - a.hits)
    .slice(0, n);
  return [
    {
      metric: "ratelimit_top_keys_hits",
      help: "Hits of the keys with the most hits in the last minutes (TOP_KEYS_WINDOW), at least.",
      gauges: all.map(gaugeOf),
    },
    {
      metric: "ratelimit_top_keys_refused",
      help: "Refused hits of the most refused keys in the last minutes (TOP_KEYS_WINDOW), at least.",
      gauges: refused.map(gaugeOf),
    },
  ];
}

function gaugeOf({ rule, entries, hits }: RefusedKey): KeyGauge {
  const key = entries.map(([name, value]) => `${name}=${value}`).join(",");
  return {
    labels: [
      ["rule", rule],
      ["key", key],
    ],
    value: hits,
  };
}
