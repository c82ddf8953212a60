/**
 * Waymark beside raw `node:http`, Hono and Fastify: each server in its own process on one core, the load on the
 * others, the servers taking turns. The turns are short and many, and a server is compared with what raw took in the
 * same round: what else a machine does, it then does to all of them. They start anew several times, because two runs
 * of one program differ by what its JIT compiler made of it.
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

/** How many requests a server has answered before the first that counts. */
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
      await checkAlike(servers, scenario);
      for (const server of servers.values()) load(server, scenario, WARM_UP);
      for (let round = 0; round < rounds; round++) {
        // Every round begins with another server, so that none always has the same neighbour.
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

/** All servers must say the same, or they do not do the same work. */
async function checkAlike(
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
  if (answers.size !== 1) throw new Error(`the servers answer differently:\n${[...answers].join("\n")}`);
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
  console.log(table(["server", "CPU us a request", "of raw, in the same round", "requests/s"], rows));
}
