/**
 * `npm run bench -- memory`: the resident memory of the service with an embedded store of 16 MiB and what it consists
 * of: idle, under the load of a gateway, and in a container of 128 MiB. The baseline is a Node process that only listens on a
 * port.
 */
import { table } from "../support/figures.ts";
import { containerTable } from "./container.ts";
import { type Measured, measureMemory, type Parts } from "./measure.ts";

const COLUMNS: Readonly<Record<keyof Parts, string>> = {
  resident: "resident",
  most: "most so far",
  file: "mapped files (Node)",
  anonymous: "anonymous",
  heapTotal: "V8 heap",
  heapUsed: "in use",
  young: "young",
  code: "code",
  external: "external",
};

export async function main(): Promise<void> {
  console.log(memoryTable(await measureMemory()));
  console.log(`\n${await containerTable()}`);
}

/** Formats the parts of the resident memory in MiB. */
export function memoryTable(measured: readonly Measured[]): string {
  const names = Object.keys(COLUMNS) as (keyof Parts)[];
  const rows = measured.map(({ program, state, ...parts }) => [
    program,
    state,
    ...names.map((name) => (parts[name] === 0 ? "-" : parts[name].toFixed(1))),
  ]);
  return table(["MiB", "state", ...Object.values(COLUMNS)], rows);
}
