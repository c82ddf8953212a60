import { BUNDLE, EMPTY, FULL_STATE, IDLE_STATE, measureMemory } from "../memory/measure.ts";
import type { Budget } from "./budget.ts";

/** The resident memory of what an operator runs, the image's bundle, with an embedded store of 16 MiB and one thread. */
export const memory: Budget = async ({ memory: given }) => {
  const measured = given ?? (await measureMemory());
  const of = (program: string, state: string) =>
    measured.find((one) => one.program === program && one.state === state)!;
  const bytes = (mebibytes: number) => mebibytes * 1.048576;
  const [idle, full] = [of(BUNDLE, IDLE_STATE), of(BUNDLE, FULL_STATE)];
  const baseline = `${EMPTY}: ${bytes(of(EMPTY, IDLE_STATE).resident).toFixed(1)} MB`;
  return [
    {
      budget: "memory of the image's bundle, idle: at most 90 MB",
      figure: `${bytes(idle.resident).toFixed(1)} MB`,
      baseline,
      met: bytes(idle.resident) <= 90,
    },
    {
      budget: "memory of the image's bundle, most under load with a full store of 16 MiB: at most 130 MB",
      figure: `${bytes(full.most).toFixed(1)} MB`,
      baseline,
      met: bytes(full.most) <= 130,
    },
  ];
};
