/**
 * `npm run bench -- limits`: the accuracy of each algorithm, admitted against allowed, and the CPU of a decision under it
 * against a plain fixed window: in the decision alone, in a whole call under h2load, and over Redis. `--plots` writes the
 * plots of docs/rules.md.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { accuracyTable } from "./accuracy.ts";
import { callsTable } from "./calls.ts";
import { embeddedTable } from "./embedded.ts";
import { overRedis } from "./over-redis.ts";
import { passedSvg } from "./passed-svg.ts";
import { algorithms, LIMIT, passed, SECONDS } from "./traffic.ts";

const ROUNDS = 7;
const plots = join(import.meta.dirname, "../../docs/limits");

export async function main(args: string[]): Promise<void> {
  if (args.includes("--plots")) writePlots();
  console.log(
    `admitted of asked, and the most within any ${SECONDS} s; the limit is ${LIMIT} in ${SECONDS} s\n\n${accuracyTable()}`,
  );
  console.log(`\n${embeddedTable(ROUNDS)}`);
  console.log(
    `\nCPU of the service for a call, 1,000 keys in turn; in parentheses against a fixed window\n\n${await callsTable(ROUNDS)}`,
  );
  for (const [title, figures] of await overRedis(5))
    console.log(
      `\nCPU of a decision over Redis, ${title}; in parentheses against a fixed window\n\n${figures}`,
    );
}

/** Above the limit for 30 s, a pause, and a burst on each side of a window's edge. */
function writePlots(): void {
  const steady = Array.from({ length: 500 }, (_, index) => index * 50);
  const burst = Array.from({ length: 200 }, (_, index) => 49_000 + index * 10);
  const asked = [...steady, ...burst];
  for (const [file, name] of [
    ["fixed-window", "fixed_window"],
    ["sliding-window", "sliding_window"],
    ["token-bucket", "token_bucket"],
  ] as const) {
    const yaml = algorithms.find(([one]) => one === name)![1];
    writeFileSync(
      join(plots, `${file}.svg`),
      passedSvg(`${name}: 100 in 10 s`, asked, passed(yaml, asked), 70_000),
    );
  }
}
