import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A control group with a limit of memory, as that of a container. Sources: cgroups(7), cgroup-v1/memory, cgroup-v2. */
export interface MemoryGroup {
  /** A process joins the group when it writes its id here. */
  readonly processes: string;
  figures(): GroupFigures;
  /** The group must not have processes any more. */
  remove(): void;
}

/** Bytes and numbers of events. */
export interface GroupFigures {
  /** The most memory of the processes, with the pages of files that they read. */
  readonly most: number;
  /** The number of times the group reached its limit. The kernel then takes back pages of files first. */
  readonly atLimit: number;
  readonly killed: number;
}

/** The files of one version of control groups. */
interface Version {
  readonly root: string;
  readonly limit: string;
  readonly most: string;
  readonly atLimit: readonly [file: string, number: RegExp];
  readonly killed: readonly [file: string, number: RegExp];
}

const versions: readonly Version[] = [
  {
    root: "/sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    most: "memory.max_usage_in_bytes",
    atLimit: ["memory.failcnt", /(\d+)/],
    killed: ["memory.oom_control", /^oom_kill (\d+)/m],
  },
  {
    root: "/sys/fs/cgroup",
    limit: "memory.max",
    most: "memory.peak",
    atLimit: ["memory.events", /^max (\d+)/m],
    killed: ["memory.events", /^oom_kill (\d+)/m],
  },
];

/** @returns `undefined` where the kernel or the user's rights do not allow such a group */
export function memoryGroup(bytes: number): MemoryGroup | undefined {
  for (const version of versions) {
    const folder = join(version.root, `bench-${process.pid}`);
    try {
      mkdirSync(folder);
    } catch {
      continue;
    }
    try {
      writeFileSync(join(folder, version.limit), String(bytes));
      return inFolder(folder, version);
    } catch {
      rmdirSync(folder);
    }
  }
  return undefined;
}

function inFolder(folder: string, { most, atLimit, killed }: Version): MemoryGroup {
  const numberIn = (file: string, number: RegExp) =>
    Number(number.exec(readFileSync(join(folder, file), "utf8"))?.[1] ?? Number.NaN);
  return {
    processes: join(folder, "cgroup.procs"),
    figures: () => ({
      most: numberIn(most, /(\d+)/),
      atLimit: numberIn(...atLimit),
      killed: numberIn(...killed),
    }),
    remove: () => rmdirSync(folder),
  };
}
