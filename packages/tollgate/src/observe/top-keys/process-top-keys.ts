import { mergeTopKeys } from "./merge-top-keys.ts";
import type { CountedRule, ThreadTopKeys } from "./thread-top-keys.ts";
import { MAX_LISTED, type TopKeys, type TopKeysQuery, type TopKeysSnapshot } from "./top-keys.ts";

/** Reads the counts of the other threads. */
export type OtherTopKeys = (most: number, rule: string | undefined) => Promise<readonly CountedRule[]>;

const DEFAULT_LISTED = 10;
/** A thread sends more keys than the answer has, because a key may be in front only in the sum of all threads. */
const SENT_FOR_EACH = 4;

export interface ProcessTopKeysOptions {
  /** The top keys of the main thread. Undefined if top keys are off. */
  readonly own: ThreadTopKeys | undefined;
  readonly others: OtherTopKeys;
  /** `TOP_KEYS_WINDOW`, in milliseconds. */
  readonly window: number;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

/** The top keys of all threads. */
export function processTopKeys({ own, others, window, now = Date.now }: ProcessTopKeysOptions): TopKeys {
  const started = now();
  return {
    enabled: own !== undefined,
    async snapshot({ rule, n = DEFAULT_LISTED }: TopKeysQuery = {}): Promise<TopKeysSnapshot> {
      const listed = Math.max(1, Math.min(n, MAX_LISTED));
      const most = SENT_FOR_EACH * listed;
      const foreign = own === undefined ? [] : await others(most, rule);
      const to = now();
      const half = window / 2;
      const from = Math.max(started, (Math.floor(to / half) - 1) * half);
      const counted = own === undefined ? [] : own.read(to, most, rule);
      return { from, to, ...mergeTopKeys([...counted, ...foreign], listed) };
    },
  };
}
