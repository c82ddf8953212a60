import type { Plot } from "./svg.ts";

/** A section of the document: a table and its plot. */
export interface Section {
  /** The name of the plot's file. */
  readonly name: string;
  readonly title: string;
  readonly text: string;
  readonly table: string;
  readonly plot: Plot;
}
