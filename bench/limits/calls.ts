/** CPU of the service for a call under each algorithm, with 1,000 keys in turn. */
import { RedisServer } from "../../packages/tollgate/test/servers/redis.ts";
import { message } from "../support/decision.ts";
import { median, table } from "../support/figures.ts";
import { KEY_PLACE, rawLoad } from "../support/raw-load.ts";
import { startTollgate } from "../support/tollgate.ts";
import { measured, TWO_LIMITS } from "./measured.ts";

const shape = { connections: 8, streams: 50, calls: 60_000, keys: 1000 };
const stores = ["embedded", "Redis"] as const;
/** The highest ratio to a fixed window, for one limit. */
const goals = { embedded: 1.2, Redis: 1.5 };

/** @returns a table with a column for each store, as medians of rounds of all algorithms in turn */
export async function callsTable(rounds: number): Promise<string> {
  const columns: string[][] = [];
  for (const store of stores) columns.push(await column(store, rounds));
  const rows = measured.map(([name], index) => [name, ...columns.map((cells) => cells[index]!)]);
  return table(["algorithm", ...stores], rows);
}

async function column(store: (typeof stores)[number], rounds: number): Promise<string[]> {
  const domains = measured.map(([, limits], index) => `  - { key: k${index}, ${limits} }`);
  await using redis = store === "Redis" ? await RedisServer.start() : undefined;
  const env = redis && { BACKEND_TYPE: "kvstore", KVSTORE_URL: redis.url };
  const server = await startTollgate(env, undefined, `domain: bench\ndescriptors:\n${domains.join("\n")}\n`);
  try {
    const runs = measured.map((_, index) => ({
      bytes: message(`k${index}=${KEY_PLACE}`),
      figures: [] as number[],
    }));
    for (let round = -1; round < rounds; round++)
      for (const { bytes, figures } of runs) {
        const { cpuMicroseconds } = rawLoad(server.pid, server.url, { ...shape, message: bytes });
        if (round >= 0) figures.push(cpuMicroseconds);
      }
    const baseline = median(runs[0]!.figures);
    return runs.map(({ figures }, index) => {
      const own = median(figures);
      const ratio = own / baseline;
      const isMissed = ratio > goals[store] && measured[index]![0] !== TWO_LIMITS;
      return `${own.toFixed(2)} µs (${ratio.toFixed(2)})${isMissed ? " **missed**" : ""}`;
    });
  } finally {
    await server.stop();
  }
}
