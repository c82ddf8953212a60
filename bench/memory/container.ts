import { setTimeout as delay } from "node:timers/promises";
import { leading, type Workload } from "../gateway/workload.ts";
import { table } from "../support/figures.ts";
import { type MemoryGroup, memoryGroup } from "../support/memory-group.ts";
import { startTollgate } from "../support/tollgate.ts";
import { bundleEnv, withBundle } from "./bundle.ts";
import { CALLS, manyAddresses, send } from "./measure.ts";

const LIMIT = 128 * 2 ** 20;
const rounds: readonly Workload[] = [leading, leading, leading, manyAddresses];

/**
 * Measures the image's bundle with an embedded store of 16 MiB in a control group of 128 MiB, and without a limit. Fails
 * if the kernel ends the service or a call has no answer.
 */
export async function containerTable(): Promise<string> {
  const group = memoryGroup(LIMIT);
  if (group === undefined) return "Not measured: this user cannot make a control group of memory.";
  try {
    return await withBundle(async (launcher) => {
      const limited = await measure(launcher, group);
      const free = await measure(launcher);
      const { most, atLimit, killed } = group.figures();
      if (killed > 0) throw new Error(`the kernel ended ${killed} processes of the group`);
      const mebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(1);
      return table(
        [
          "limit",
          "calls",
          "CPU us a call, by round",
          "resident MiB",
          "most MiB of the group",
          "times at the limit",
        ],
        [
          ["none", rounds.length * CALLS, shown(free.cpu), free.resident.toFixed(1), "-", "-"],
          [
            `${LIMIT / 2 ** 20} MiB`,
            rounds.length * CALLS,
            shown(limited.cpu),
            limited.resident.toFixed(1),
            mebibytes(most),
            atLimit,
          ],
        ],
      );
    });
  } finally {
    group.remove();
  }
}

async function measure(launcher: string, group?: MemoryGroup): Promise<{ cpu: number[]; resident: number }> {
  const server = await startTollgate(bundleEnv, undefined, undefined, launcher, group);
  try {
    await delay(1000);
    const cpu: number[] = [];
    let resident = 0;
    for (const workload of rounds) {
      const { cpuMicroseconds, mebibytes } = send(server, workload);
      cpu.push(cpuMicroseconds);
      resident = mebibytes;
    }
    return { cpu, resident };
  } finally {
    await server.stop();
  }
}

function shown(microseconds: readonly number[]): string {
  return microseconds.map((value) => value.toFixed(2)).join(", ");
}
