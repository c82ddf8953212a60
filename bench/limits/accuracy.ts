/** A table of the hits that each algorithm lets pass, for several kinds of traffic. */
import { table } from "../support/figures.ts";
import { algorithms, mostWithin, passed, traffics } from "./traffic.ts";

export function accuracyTable(): string {
  const rows = algorithms.map(([name, yaml]) => [
    name,
    ...Object.values(traffics).map((instants) => {
      const admitted = passed(yaml, instants);
      return `${admitted.length} of ${instants.length}, at most ${mostWithin(admitted)}`;
    }),
  ]);
  return table(["algorithm", ...Object.keys(traffics)], rows);
}
