/** Counters as the admin API shows them: plain data for JSON. */
import type { CounterOf } from "../decision/counters-of.ts";
import type { Entry } from "../protocol/messages.ts";
import { unitNames } from "../protocol/units.ts";
import { statisticName } from "../rules/limit.ts";
import { printable } from "../text/printable.ts";

export interface DescriptorView {
  readonly domain: string;
  /** `key=value,key2=value2`, with `\,` for a comma inside a value. */
  readonly descriptor: string;
}

/** One limit with its counter. */
export interface CounterView {
  /** The name of a limit in a list, or its unit with the multiplier. */
  readonly name?: string;
  readonly algorithm: string;
  /** The effective limit. */
  readonly limit: number;
  /** The size of a token bucket. */
  readonly burst?: number;
  /** Tokens left above the bucket that an operator granted. */
  readonly granted?: number;
  /** Length of the window. */
  readonly seconds: number;
  readonly key: string;
  /** Hits in use, rounded up, without those that open reservations hold. */
  readonly count: number;
  /** Hits that open reservations hold. */
  readonly holds?: number;
  readonly remaining: number;
  readonly window?: WindowView;
  /** Seconds until the limit is unused again, for limits without a window of their own. */
  readonly resetSeconds?: number;
}

interface WindowView {
  /** `MINUTE`, with a multiplier `15 MINUTE`. */
  readonly unit: string;
  /** Seconds since the epoch. */
  readonly start: number;
  readonly end: number;
}

export function descriptorText(entries: readonly Entry[]): string {
  return printable(entries.map(({ key, value }) => `${key}=${value}`.replaceAll(",", "\\,")).join(","));
}

export function counterView({ resolved, state, key }: CounterOf): CounterView {
  const { limit, algorithm } = resolved;
  const { used, held, remaining, reset, windowStart, windowSize } = state;
  const isBucket = limit.algorithm === "token_bucket";
  const granted = isBucket ? used + remaining - resolved.cap : 0;
  const unit = unitNames[limit.unit];
  return {
    ...(limit.isListed && { name: statisticName(limit) }),
    algorithm: limit.algorithm,
    limit: limit.requestsPerUnit,
    ...(isBucket && { burst: limit.burst }),
    ...(granted > 0 && { granted }),
    seconds: windowSize,
    key: printable(key),
    count: used - held,
    ...(held > 0 && { holds: held }),
    remaining,
    ...(algorithm.perWindow
      ? {
          window: {
            unit: limit.multiplier === 1 ? unit : `${limit.multiplier} ${unit}`,
            start: windowStart,
            end: windowStart + windowSize,
          },
        }
      : { resetSeconds: reset }),
  };
}
