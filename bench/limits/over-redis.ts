/** CPU of a decision under each algorithm over Redis, of Tollgate and of the server. */

import { Decider } from "../../packages/tollgate/src/decision/decide.ts";
import { PendingDecision } from "../../packages/tollgate/src/decision/pending-decision.ts";
import { createStatistics } from "../../packages/tollgate/src/observe/registry.ts";
import { RequestPlaces } from "../../packages/tollgate/src/protocol/scan-request.ts";
import { loadRules } from "../../packages/tollgate/src/rules/load-rules.ts";
import { makeKvstore } from "../../packages/tollgate/test/counters/kvstore-support.ts";
import { RedisServer } from "../../packages/tollgate/test/servers/redis.ts";
import { decisionOptions, message } from "../support/decision.ts";
import { median, table } from "../support/figures.ts";
import { measured } from "./measured.ts";

/** Decisions of one turn of the event loop: a batch of the store. */
const IN_FLIGHT = 400;
const DECISIONS = 40_000;

interface Figure {
  /** Microseconds of CPU per decision. */
  readonly own: number;
  readonly server: number;
}

/** @returns a title and a table for one key, and for many */
export async function overRedis(
  rounds: number,
): Promise<readonly (readonly [title: string, table: string])[]> {
  const tables: [string, string][] = [];
  for (const [title, keys] of [
    ["1,000 keys", 1000],
    ["one hot key", 1],
  ] as const) {
    await using redis = await RedisServer.start();
    const runs = measured.map(([name, limit]) => ({ name, limit, figures: [] as Figure[] }));
    const store = makeKvstore({ url: redis.url, poolSize: 1 });
    for (const { name, limit } of runs) await run(name, limit);
    for (let round = 0; round < rounds; round++)
      for (const { name, limit, figures } of runs) figures.push(await run(name, limit));
    await store.close();
    const of = (figures: readonly Figure[], which: keyof Figure) => median(figures.map((one) => one[which]));
    const [own, server] = [of(runs[0]!.figures, "own"), of(runs[0]!.figures, "server")];
    const cell = (value: number, base: number) => `${value.toFixed(2)} µs (${(value / base).toFixed(2)})`;
    tables.push([
      title,
      table(
        ["algorithm", "Tollgate", "Redis"],
        runs.map(({ name, figures }) => [
          name,
          cell(of(figures, "own"), own),
          cell(of(figures, "server"), server),
        ]),
      ),
    ]);

    async function run(name: string, limit: string): Promise<Figure> {
      const text = `{ domain: bench, descriptors: [{ key: user, ${limit} }] }`;
      const { ruleSet } = loadRules([{ name: "rules.yaml", text }], { mergeDomains: false });
      const decider = new Decider(decisionOptions, createStatistics(), store);
      const user = name.replaceAll(" ", "-");
      const messages = Array.from({ length: keys }, (_, i) => Buffer.from(message(`user=${user}-${i}`)));
      const places = new RequestPlaces();
      const decide = (call: number) => {
        const bytes = messages[call % keys]!;
        places.scan(bytes, 0, bytes.length);
        const answer = decider.decideInPlace(places, ruleSet, Date.now(), 0);
        return answer instanceof PendingDecision ? answer.promise() : answer;
      };
      const before = await serverCpu();
      const start = process.cpuUsage();
      for (let done = 0; done < DECISIONS; done += IN_FLIGHT)
        await Promise.all(Array.from({ length: IN_FLIGHT }, (_, i) => decide(done + i)));
      const { user: inUser, system } = process.cpuUsage(start);
      return { own: (inUser + system) / DECISIONS, server: ((await serverCpu()) - before) / DECISIONS };
    }

    async function serverCpu(): Promise<number> {
      return ((await redis.info("used_cpu_user")) + (await redis.info("used_cpu_sys"))) * 1e6;
    }
  }
  return tables;
}
