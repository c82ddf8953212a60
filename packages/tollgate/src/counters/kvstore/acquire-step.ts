import type { ReservationRequest } from "../reservations.ts";
import type { AcquireGroup, AcquireRequest, HoldBack } from "../store.ts";
import { KEYS_PER_COUNTER } from "./settle-script.ts";
import { lengthOf } from "./stems.ts";

/** A reservation's step, or a decision that sees holds. */
export type Settled = { readonly isCluster: boolean } & (
  | { readonly request: ReservationRequest; readonly isDecision: false }
  | { readonly request: AcquireRequest; readonly isDecision: true }
);

/** Groups of one request that one script call decides. All keys are on one server, and in one slot of a cluster. */
export class AcquireStep {
  readonly groups: readonly AcquireGroup[];
  readonly holdBack: HoldBack;
  /** The request's instant, in milliseconds since the epoch. */
  readonly now: number;
  /** The slot of its keys in a cluster; else 0. Steps of one slot share a call. */
  readonly slot: number;
  /** Approximate size of the keys, in bytes. */
  readonly bytes: number;
  /** The step of the script for reservations; undefined for the script for limits. */
  readonly settled: Settled | undefined;

  constructor(
    groups: readonly AcquireGroup[],
    holdBack: HoldBack,
    now: number,
    slot: number,
    settled?: Settled,
  ) {
    this.groups = groups;
    this.holdBack = holdBack;
    this.now = now;
    this.slot = slot;
    this.settled = settled;
    let bytes = 0;
    for (let i = 0; i < groups.length; i++) {
      const { limits } = groups[i]!;
      for (let j = 0; j < limits.length; j++) bytes += lengthOf(limits[j]!);
    }
    this.bytes = settled === undefined ? bytes : KEYS_PER_COUNTER * bytes;
  }
}
