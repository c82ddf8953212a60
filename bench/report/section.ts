import type { Plot } from "./svg.ts";

/** A part of the document: a table and its plot. */
export interface Section {
  /** Of the plot's file. */
  readonly name: string;
  readonly title: string;
  readonly text: string;
  readonly table: string;
  readonly plot: Plot;
}
