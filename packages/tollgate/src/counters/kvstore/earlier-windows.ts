/**
 * In a cluster the holds of a window are in the slot of its counter, so a call in the next window does not see that they
 * have ended. This table remembers windows with open holds. The first later call for the same counter looks at its earlier
 * window, and reports the hits whose holds ended with it.
 */
import { type ReservationRequest, type ReservedGroup, type ReservedLimit, Step } from "../reservations.ts";
import { hasTag } from "./ledger-keys.ts";

/** Counters that a process remembers. The one that was seen first is forgotten: its ends are not reported. */
const MAX_WINDOWS = 4096;

/** A group of a call, and the same group in its earlier window. */
interface Earlier {
  readonly group: ReservedGroup;
  readonly old: ReservedGroup;
}

export class EarlierWindows {
  /** The window with open holds, by stem. */
  readonly #windows = new Map<string, number>();

  /** Removes the earlier windows of a request's counters from the table. */
  take({ groups }: ReservationRequest): readonly Earlier[] {
    if (this.#windows.size === 0) return none;
    const found: Earlier[] = [];
    for (const group of groups) {
      const limit = windowOf(group);
      if (limit === undefined) continue;
      const start = this.#windows.get(limit.stem);
      if (start === undefined || start >= limit.windowStart) continue;
      this.#windows.delete(limit.stem);
      found.push({ group, old: inWindow(group, start) });
    }
    return found;
  }

  /** Remembers the counters of a settled request that have open holds. */
  note({ groups }: ReservationRequest): void {
    for (const group of groups) {
      const limit = windowOf(group);
      if (limit !== undefined && limit.held > 0) this.#add(limit.stem, limit.windowStart);
    }
  }

  /** Lets a later call try again. */
  giveBack(earlier: readonly Earlier[]): void {
    for (const { old } of earlier) {
      const { stem, windowStart } = windowOf(old)!;
      if (!this.#windows.has(stem)) this.#add(stem, windowStart);
    }
  }

  #add(stem: string, windowStart: number): void {
    const known = this.#windows.get(stem);
    if (known !== undefined && known >= windowStart) return;
    if (known === undefined && this.#windows.size >= MAX_WINDOWS)
      this.#windows.delete(this.#windows.keys().next().value!);
    this.#windows.set(stem, windowStart);
  }
}

const none: readonly Earlier[] = Object.freeze([]);

/** The limit of a group whose holds have a slot for each window. */
function windowOf({ limits }: ReservedGroup): ReservedLimit | undefined {
  const limit = limits[0]!;
  return limits.length === 1 && limit.algorithm.perWindow && !hasTag(limit) ? limit : undefined;
}

/** A copy in an earlier window. */
export function inWindow(group: ReservedGroup, start: number): ReservedGroup {
  const limits = group.limits.map((limit) => ({ ...limit, windowStart: start, homeStart: start }));
  return { ...group, limits };
}

/** A look at earlier windows. */
export function lookAt(request: ReservationRequest, groups: readonly ReservedGroup[]): ReservationRequest {
  return { ...request, step: Step.CHECK, token: undefined, groups };
}
