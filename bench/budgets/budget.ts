/** One line of the table: a budget and how it stands. */
export interface Row {
  readonly budget: string;
  readonly figure: string;
  /** What the figure is to be seen beside, from the same run. */
  readonly baseline: string;
  readonly met: boolean;
  /** Shown where it is missed: what profiles name as the reason, and the next step. */
  readonly reason?: string;
}

/** How long to measure. */
export interface Effort {
  readonly rounds: number;
  /** Calls of the fastest servers in a round; slower ones get a third. */
  readonly calls: number;
  readonly redis: string;
}

/** Measures one or several budgets. */
export type Budget = (effort: Effort) => Promise<Row[]>;

/** 400 calls in flight, as a gateway with several workers sends them. */
export const gateway = { connections: 8, streams: 50 };
