import type { GatewayResults } from "../gateway/main.ts";
import type { Measured } from "../memory/measure.ts";

/** One row of the table: a budget and its result. */
export interface Row {
  readonly budget: string;
  readonly figure: string;
  /** A figure from the same run for comparison. */
  readonly baseline: string;
  readonly met: boolean;
  /** Shown if the budget is missed: the reason according to profiles, and the next step. */
  readonly reason?: string;
}

/** The extent of the measurement. */
export interface Effort {
  readonly rounds: number;
  /** Calls per round. Slow servers get a third of them. */
  readonly calls: number;
  readonly redis: string;
  /** Runs of the gateway's calls that exist already. Without them, its budget measures one. */
  readonly gatewayRuns?: readonly GatewayResults[];
  /** The memory, if it is measured already. */
  readonly memory?: readonly Measured[];
}

/** Measures one or several budgets. */
export type Budget = (effort: Effort) => Promise<Row[]>;

/** 400 calls in flight, like a gateway with several workers. */
export const gateway = { connections: 8, streams: 50 };
