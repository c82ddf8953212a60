import type { KeyMask } from "../key-mask.ts";
import { FIRST, type Room } from "./heavy-hitters.ts";
import { type CountedKeys, KeyCounts } from "./key-counts.ts";

/** Keys that a thread watches in all. With texts of 200 bytes, they take some 25 MiB. */
const ROOM = 65_536;

export interface TopKeysOptions {
  /** `TOP_KEYS_SIZE`: keys of each rule that have a count. */
  readonly size: number;
  /** `TOP_KEYS_WINDOW`, in milliseconds. */
  readonly window: number;
  readonly mask: KeyMask;
}

/** The hits of the keys of one rule. A reload makes a new object. */
export interface RuleKeys {
  readonly rule: string;
  readonly file: string;
  readonly all: KeyCounts;
  readonly refused: KeyCounts;
}

/** The keys of one rule that one thread has counted. */
export interface CountedRule {
  readonly rule: string;
  readonly file: string;
  readonly all: CountedKeys;
  readonly refused: CountedKeys;
}

/** The top keys that one thread counts. */
export class ThreadTopKeys {
  readonly #size: number;
  readonly #halfLength: number;
  readonly #mask: KeyMask;
  readonly #room: Room;
  /** Rules with hits in the time span. */
  readonly #active = new Set<RuleKeys>();
  #swept = Number.NEGATIVE_INFINITY;

  constructor({ size, window, mask }: TopKeysOptions, room = ROOM) {
    this.#size = size;
    this.#halfLength = window / 2;
    this.#mask = mask;
    this.#room = { size: room, taken: 0 };
  }

  /** Creates the counts of a rule. They take no memory before its first hit. */
  rule(rule: string, file: string): RuleKeys {
    const begin = (half: number) => {
      this.#active.add(keys);
      if (this.#room.taken + FIRST > this.#room.size) this.#sweep(half);
    };
    const counts = () => new KeyCounts(this.#size, this.#room, begin);
    const keys: RuleKeys = { rule, file, all: counts(), refused: counts() };
    return keys;
  }

  /** The number of the half that contains a time. @param now milliseconds since the epoch */
  halfAt(now: number): number {
    return Math.floor(now / this.#halfLength);
  }

  /**
   * Reads the counts of all rules, or of one.
   * @param most keys to list of each rule
   */
  read(now: number, most: number, rule?: string): CountedRule[] {
    const half = this.halfAt(now);
    this.#sweep(half);
    return Array.from(this.#active)
      .filter((keys) => rule === undefined || keys.rule === rule)
      .map(({ rule, file, all, refused }) => ({
        rule,
        file,
        all: all.read(half, most, this.#mask),
        refused: refused.read(half, most, this.#mask),
      }));
  }

  /** Forgets rules without hits, at most once for each half. */
  #sweep(half: number): void {
    if (half === this.#swept) return;
    this.#swept = half;
    for (const keys of this.#active) {
      const hasHits = keys.all.turn(half);
      const hasRefused = keys.refused.turn(half);
      if (!hasHits && !hasRefused) this.#active.delete(keys);
    }
  }
}
