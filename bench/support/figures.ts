import { execFileSync } from "node:child_process";
import { cpus } from "node:os";

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Formats the median and the range: `1.32 (1.28-1.41)`. */
export function spread(values: readonly number[], digits = 2): string {
  const shown = (value: number) => value.toFixed(digits);
  return `${shown(median(values))} (${shown(Math.min(...values))}-${shown(Math.max(...values))})`;
}

/** Formats a Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cells = [head, head.map(() => "---"), ...rows.map((row) => row.map(String))];
  return cells.map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** Describes the machine. */
export function machine(): string {
  const [first] = cpus();
  const kernel = execFileSync("uname", ["-sr"], { encoding: "utf8" }).trim();
  return `${cpus().length} x ${first?.model.trim() ?? "unknown"}, ${kernel}, Node ${process.versions.node}`;
}

/** Runs several measurements in turn, round by round, so that changes of the machine's load affect all of them alike. */
export async function interleaved<T>(
  names: readonly string[],
  rounds: number,
  measure: (name: string) => Promise<T>,
): Promise<Map<string, T[]>> {
  const results = new Map<string, T[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (let at = 0; at < names.length; at++) {
      const name = names[(at + round) % names.length]!;
      results.get(name)!.push(await measure(name));
    }
  }
  return results;
}
