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
import { plots } from "./plots.ts";
import { LIMIT, SECONDS } from "./traffic.ts";

const ROUNDS = 7;
const folder = join(import.meta.dirname, "../../docs/limits");

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

function writePlots(): void {
  for (const [file, svg] of plots()) writeFileSync(join(folder, `${file}.svg`), svg);
}
