/** The latency of single calls while the rules are reloaded again and again, beside the same calls without reloads. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { gatewayLoad } from "../gateway/load.ts";
import { leading } from "../gateway/workload.ts";
import { rules } from "../support/decision.ts";
import { interleaved, median, table } from "../support/figures.ts";
import { rulesYaml } from "../support/rules-yaml.ts";
import { rulesFolder, startTollgate } from "../support/tollgate.ts";

const ROUNDS = 3;
const RATE = 1000;
const SECONDS = 4;
const SIZE = 10_000;

/** Service and load generator use all cores. */
export async function pacedTable(): Promise<string> {
  const { root, remove } = rulesFolder(rules + rulesYaml(SIZE).replace(/^domain.*\ndescriptors:\n/, ""));
  const env = { RUNTIME_ROOT: root, RUNTIME_WATCH_ROOT: "false" };
  const server = await startTollgate(env, `0-${availableParallelism() - 1}`);
  const peer = { server, url: server.url };
  const load = { ...leading, connections: 16, streams: 1, rate: RATE, calls: RATE * SECONDS, warmUp: RATE };
  let reloads = 0;
  const kinds = {
    "no reloads": () => gatewayLoad(peer, load),
    [`a reload of ${SIZE.toLocaleString("en")} rules every 0.3 s`]: async () => {
      const before = await loadsOf(server.debug);
      const stop = changeAgainAndAgain(join(root, "bench", "config"));
      try {
        return gatewayLoad(peer, load);
      } finally {
        await stop();
        reloads += (await loadsOf(server.debug)) - before;
      }
    },
  };
  try {
    const measured = await interleaved(Object.keys(kinds), ROUNDS, async (kind) => kinds[kind]!());
    if (reloads === 0) throw new Error("the service did not reload its rules");
    const shown = (microseconds: number[]) => (median(microseconds) / 1000).toFixed(2);
    return table(
      [`${RATE.toLocaleString("en")} single calls a second during`, "p50 ms", "p99 ms", "p99.9 ms"],
      Array.from(measured, ([kind, all]) => [
        kind,
        shown(all.map(({ p50 }) => p50)),
        shown(all.map(({ p99 }) => p99)),
        shown(all.map(({ p999 }) => p999)),
      ]),
    );
  } finally {
    await server.stop();
    remove();
  }
}

/** Replaces the rules from another process, because the load holds this one. Returns a function that ends that. */
function changeAgainAndAgain(folder: string): () => Promise<void> {
  writeFileSync(
    join(folder, "change.sh"),
    "while sleep 0.3; do cp bench.yaml new && mv new bench.yaml; done",
  );
  const changes = spawn("sh", ["change.sh"], { cwd: folder });
  return async () => {
    changes.kill("SIGTERM");
    await once(changes, "close");
  };
}

async function loadsOf(debug: string): Promise<number> {
  const text = await (await fetch(`${debug}/stats?filter=config_load_success`)).text();
  return Number(/config_load_success: (\d+)/.exec(text)?.[1] ?? 0);
}
