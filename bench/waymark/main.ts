/**
 * Compares Waymark to raw `node:http`, Hono and Fastify. Each server runs in a separate process on one core, with the load
 * on the others. The servers take many short turns, and each is compared to raw in the same round, so that other load on
 * the machine affects all of them alike. The servers restart several times, because the JIT compiler's results differ
 * from run to run.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { machine, median, spread, table } from "../support/figures.ts";
import { load, type Sample, type Scenario } from "./load.ts";
import { ORDER_TEXT } from "./order.ts";
import { type BenchServer, SERVERS, type ServerName, startServer } from "./servers.ts";
import { measureStart } from "./start.ts";

interface Effort {
  readonly starts: number;
  readonly rounds: number;
  readonly requests: number;
}

/** Number of requests before the measurement. */
const WARM_UP = 20_000;

/** `npm run bench -- waymark [--starts=3] [--rounds=10] [--requests=10000] [--only=1]` */
export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      starts: { type: "string", default: "3" },
      rounds: { type: "string", default: "10" },
      requests: { type: "string", default: "10000" },
      only: { type: "string" },
    },
  });
  const effort = {
    starts: Number(values.starts),
    rounds: Number(values.rounds),
    requests: Number(values.requests),
  };
  const folder = mkdtempSync(join(tmpdir(), "waymark-bench-"));
  const bodyFile = join(folder, "body.json");
  writeFileSync(bodyFile, ORDER_TEXT);
  const scenarios: readonly Scenario[] = [
    { name: "a fixed string", path: "/" },
    { name: "one typed path and two query arguments", path: "/users/12?verbose=true&lang=en" },
    { name: `a JSON body of ${ORDER_TEXT.length} bytes`, path: "/orders", bodyFile },
  ];
  console.log(machine());
  try {
    for (const [at, scenario] of scenarios.entries()) {
      if (values.only !== undefined && Number(values.only) !== at + 1) continue;
      report(scenario, await compare(scenario, effort), effort);
    }
    if (values.only === undefined) await measureStart(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Samples = ReadonlyMap<ServerName, Sample[]>;

async function compare(scenario: Scenario, { starts, rounds, requests }: Effort): Promise<Samples> {
  const samples: Samples = new Map(SERVERS.map((name) => [name, []]));
  for (let start = 0; start < starts; start++) {
    const servers = new Map<ServerName, BenchServer>();
    try {
      for (const name of SERVERS) servers.set(name, await startServer(name));
      await checkSameResponses(servers, scenario);
      for (const server of servers.values()) load(server, scenario, WARM_UP);
      for (let round = 0; round < rounds; round++) {
        // Every round begins with a different server, so that the order varies.
        for (let at = 0; at < SERVERS.length; at++) {
          const name = SERVERS[(at + round) % SERVERS.length]!;
          samples.get(name)!.push(load(servers.get(name)!, scenario, requests));
        }
      }
    } finally {
      for (const server of servers.values()) await server.stop();
    }
  }
  return samples;
}

/**
 * Checks that all servers do the same work.
 * @throws {Error} if their responses differ
 */
async function checkSameResponses(
  servers: ReadonlyMap<ServerName, BenchServer>,
  { path, bodyFile }: Scenario,
): Promise<void> {
  const answers = new Set<string>();
  for (const { url } of servers.values()) {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: ORDER_TEXT };
    const response = await fetch(url + path, bodyFile === undefined ? {} : init);
    const { headers } = response;
    const type = headers.get("content-type")?.replace("; charset=utf-8", "");
    answers.add(`${response.status} ${type} ${headers.get("content-length")} ${await response.text()}`);
  }
  if (answers.size !== 1) throw new Error(`the responses of the servers differ:\n${[...answers].join("\n")}`);
}

function report(scenario: Scenario, samples: Samples, { starts, rounds, requests }: Effort): void {
  const raw = samples.get("raw")!;
  const rows = [...samples].map(([name, all]) => [
    name,
    spread(all.map(({ cpu }) => cpu)),
    spread(
      all.map(({ cpu }, round) => raw[round]!.cpu / cpu),
      3,
    ),
    Math.round(median(all.map(({ perSecond }) => perSecond))).toLocaleString("en"),
  ]);
  console.log(
    `\n${scenario.name}: ${starts} starts of ${rounds} rounds of ${requests} requests, 64 connections\n`,
  );
  console.log(table(["server", "CPU us per request", "raw / server, same round", "requests/s"], rows));
}
