/** Windows in time: aligned to the Unix epoch, or to a calendar. */
import type { Unit } from "../protocol/messages.ts";
import { windowSeconds } from "../protocol/units.ts";

export interface Window {
  /** Seconds. Of a calendar window: the length of the window that `startOf` returned last. */
  readonly size: number;
  /** The start of the window that contains an instant, both in seconds since the epoch. */
  startOf(seconds: number): number;
}

/** Windows of one length. A week starts on a Thursday, because the epoch does. */
class EpochWindow implements Window {
  readonly size: number;

  constructor(size: number) {
    this.size = size;
  }

  startOf(seconds: number): number {
    return seconds - (seconds % this.size);
  }
}

const unitWindows: readonly Window[] = windowSeconds.map((seconds) => new EpochWindow(seconds));

/** The window of a unit. All rules share it. */
export function unitWindow(unit: Unit): Window {
  return unitWindows[unit]!;
}

/** @param size seconds */
export function epochWindow(size: number): Window {
  return new EpochWindow(size);
}
