import type { AcquireGroup, HoldBack } from "../store.ts";
import type { SettleCall } from "./settle-call.ts";

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
  /** A call of its own, for reservations and for limits that see them. */
  readonly settle: SettleCall | undefined;

  constructor(
    groups: readonly AcquireGroup[],
    holdBack: HoldBack,
    now: number,
    slot: number,
    settle?: SettleCall,
  ) {
    this.groups = groups;
    this.holdBack = holdBack;
    this.now = now;
    this.slot = slot;
    this.settle = settle;
    let bytes = 0;
    for (let i = 0; i < groups.length; i++) {
      const { limits } = groups[i]!;
      for (let j = 0; j < limits.length; j++) bytes += limits[j]!.stem.length;
    }
    this.bytes = settle?.bytes ?? bytes;
  }
}
