import type { KeyEntries, KeyMask } from "../key-mask.ts";
import { FIRST, HeavyHitters, type Room } from "./heavy-hitters.ts";
import { KeyLabels } from "./key-labels.ts";

/** A key with its hits in the time span: at least `low`, at most `high`. */
export interface CountedKey {
  readonly hash: number;
  readonly entries: KeyEntries;
  readonly low: number;
  readonly high: number;
}

export interface CountedKeys {
  /** All hits. */
  readonly total: number;
  readonly keys: readonly CountedKey[];
  /** Most hits that a key outside the list can have. */
  readonly bound: number;
}

/** The hits of one half of the time span. */
interface Half {
  total: number;
  /** The most hits that one counted request represented, beyond its own. 0 if every request was counted. */
  step: number;
  /** Undefined if there was no room for it. */
  readonly hitters: HeavyHitters | undefined;
  readonly labels: KeyLabels;
}

/**
 * The hits of the keys of one rule in the last minutes. Counts in halves of the time span, and forgets a half when the
 * one after the next begins.
 */
export class KeyCounts {
  readonly #size: number;
  readonly #room: Room;
  readonly #begin: (half: number) => void;
  #number = Number.NEGATIVE_INFINITY;
  #current: Half | undefined;
  #last: Half | undefined;

  /**
   * @param size keys that each half watches
   * @param begin called before the first hit of each half
   */
  constructor(size: number, room: Room, begin: (half: number) => void = () => {}) {
    this.#size = size;
    this.#room = room;
    this.#begin = begin;
  }

  /**
   * Adds hits of a key. Returns the number of the label that must be set, or -1.
   * @param half number of the half: it grows by 1 with each
   * @param weight how many requests with as many hits this one represents
   */
  add(hash: number, ownHits: number, half: number, weight = 1): number {
    if (half !== this.#number) this.turn(half);
    this.#current ??= this.#newHalf(half);
    const current = this.#current;
    const hits = ownHits * weight;
    if (weight > 1 && hits > current.step) current.step = hits;
    current.total += hits;
    const { hitters } = current;
    if (hitters === undefined) return -1;
    const { capacity } = hitters;
    const entry = hitters.add(hash, hits);
    if (hitters.capacity > capacity) current.labels.grow(hitters.capacity);
    return entry;
  }

  /** The labels of the keys that the last call of `add` counted. */
  get labels(): KeyLabels {
    return this.#current!.labels;
  }

  /** Forgets what is too old. Returns whether anything is left. */
  turn(half: number): boolean {
    // After a small step back of the clock, the half goes on.
    if (half !== this.#number && half !== this.#number - 1) {
      this.#last?.hitters?.release();
      const follows = half === this.#number + 1;
      if (!follows) this.#current?.hitters?.release();
      this.#last = follows ? this.#current : undefined;
      this.#current = undefined;
      this.#number = half;
    }
    return this.#current !== undefined || this.#last !== undefined;
  }

  /** @param most keys to list */
  read(half: number, most: number, mask: KeyMask): CountedKeys {
    this.turn(half);
    const halves = [this.#current, this.#last].filter((one) => one !== undefined);
    const keys = new Map<number, CountedKey>();
    for (const { hitters, labels } of halves)
      for (const { hash, entry } of hitters?.entries() ?? [])
        if (!keys.has(hash)) keys.set(hash, { hash, entries: labels.read(entry, mask), low: 0, high: 0 });
    for (const one of halves) addHalf(keys, one);
    const bound = halves.reduce((sum, half) => sum + above(half, half.hitters?.bound ?? half.total), 0);
    return shorten(
      { total: halves.reduce((sum, { total }) => sum + total, 0), keys: [...keys.values()], bound },
      most,
    );
  }

  #newHalf(half: number): Half {
    this.#begin(half);
    const { size, taken } = this.#room;
    const fits = taken + FIRST <= size;
    const hitters = fits ? new HeavyHitters(this.#size, this.#room) : undefined;
    return { total: 0, step: 0, hitters, labels: new KeyLabels(hitters?.capacity ?? 0) };
  }
}

function addHalf(keys: Map<number, CountedKey>, half: Half): void {
  const { total, hitters } = half;
  const watched = new Map(Array.from(hitters?.entries() ?? [], (entry) => [entry.hash, entry]));
  for (const [hash, key] of keys) {
    const entry = watched.get(hash);
    const high = above(half, entry?.count ?? hitters?.boundOf(hash) ?? total);
    const low = entry === undefined ? 0 : below(half, entry.count - entry.error);
    keys.set(hash, { ...key, low: key.low + low, high: key.high + high });
  }
}

/** Three standard deviations, and seven counted requests for keys with few: more is off in one of a thousand cases. */
const DEVIATIONS = 3;
const FEW = 7;

/** The most hits that a key with this sum of a random share has. */
function above({ step }: Half, sum: number): number {
  return step === 0 ? sum : Math.round(sum + DEVIATIONS * Math.sqrt(sum * step) + FEW * step);
}

/** The least hits that a key with this sum of a random share has. */
function below({ step }: Half, sum: number): number {
  return step === 0 ? sum : Math.max(0, Math.round(sum - DEVIATIONS * Math.sqrt(sum * step)));
}

/** Keeps the keys with the most hits. */
export function shorten({ total, keys, bound }: CountedKeys, most: number): CountedKeys {
  const sorted = [...keys].sort((a, b) => b.low - a.low || b.high - a.high);
  const rest = sorted.slice(most);
  return {
    total,
    keys: sorted.slice(0, most),
    bound: rest.reduce((greatest, { high }) => Math.max(greatest, high), bound),
  };
}
