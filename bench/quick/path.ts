import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Workload } from "../gateway/workload.ts";

export interface PathFigures {
  /** CPU of a call; the median of short rounds. */
  readonly nanoseconds: number;
  /** Bytes of heap for a call. */
  readonly bytes: number;
}

/** Measures a call in a new process, without the kernel. */
export function measurePath(variant: "empty" | "tollgate", workload: Workload): PathFigures {
  // With a large young generation, no garbage collection runs within a round.
  const flags = ["--expose-gc", "--max-semi-space-size=64", "--min-semi-space-size=64"];
  const script = join(import.meta.dirname, "path-process.ts");
  const output = execFileSync(process.execPath, [...flags, script, variant, JSON.stringify(workload)], {
    encoding: "utf8",
  });
  return JSON.parse(output) as PathFigures;
}
