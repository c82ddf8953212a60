/** Compares the path of each call in this checkout with that in another one. They take turns. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { RedisServer } from "../../packages/tollgate/test/servers/redis.ts";
import { median, table } from "../support/figures.ts";
import { type Phase, ReservationPath } from "./open-path.ts";

const phases: readonly Phase[] = ["decision", "Reserve", "Commit"];

export async function ab(
  folder: string,
  kinds: readonly (readonly [name: string, limits: string])[],
  rounds: number,
): Promise<void> {
  const file = pathToFileURL(resolve(folder, "bench/reservations/open-path.ts")).href;
  const other = (await import(file)) as { readonly ReservationPath: typeof ReservationPath };
  await using redis = await RedisServer.start();
  for (const [where, url] of [
    ["embedded", undefined],
    ["Redis", redis.url],
  ] as const)
    for (const [name, limits] of kinds) {
      const paths = [new ReservationPath(limits, url), new other.ReservationPath(limits, url)];
      const figures = new Map(phases.map((phase) => [phase, [[], []] as [number[], number[]]]));
      for (let round = -20; round < rounds; round++)
        // The second of two turns finds warmer caches.
        for (const which of round % 2 === 0 ? [0, 1] : [1, 0])
          for (const phase of phases) {
            const nanoseconds = await paths[which]!.run(phase);
            if (round >= 0) figures.get(phase)![which]!.push(nanoseconds);
          }
      const us = (all: readonly number[]) => `${(median(all) / 1000).toFixed(2)} µs`;
      const baselines = [0, 1].map((which) => median(figures.get("decision")![which]!));
      console.log(`\nCPU of a call, from the bytes of its read to those of its answer: ${where}, ${name}\n`);
      console.log(
        table(
          ["call", "here", "against a decision", "there", "against a decision", "there / here"],
          Array.from(figures, ([phase, [here, there]]) => [
            phase,
            us(here),
            (median(here) / baselines[0]!).toFixed(2),
            us(there),
            (median(there) / baselines[1]!).toFixed(2),
            median(there.map((one, round) => one / here[round]!)).toFixed(3),
          ]),
        ),
      );
      await Promise.all(paths.map((path) => path.close()));
    }
  process.exit(0);
}
