import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodePeer, type StartPeer } from "../support/peers.ts";
import { cpuMicroseconds, loadCores } from "../support/process.ts";
import { startTollgate } from "../support/tollgate.ts";
import type { Budget } from "./budget.ts";
import { medians } from "./compare.ts";

const request = {
  domain: "bench",
  descriptors: [
    {
      entries: [
        { key: "path", value: "/api/a" },
        { key: "remote_address", value: "192.0.2.1" },
      ],
    },
  ],
};

/** Source: a profile of 254,000 calls on an Intel Xeon. */
const reason =
  "The decision and its counter take about 1.5 us. The checks of repeated members and of the text, which the baseline does not make, take 1 us, the response's text 0.5 us. The rest is in many places below 0.3 us each. The write into the socket takes a third of both servers' time. A gateway sends gRPC.";

/** Compares `/json` to a Waymark controller that reads and writes the same amount of JSON. */
export const json: Budget = async ({ rounds }) => {
  const folder = mkdtempSync(join(tmpdir(), "bench-json-"));
  const script = join(folder, "post.lua");
  writeFileSync(
    script,
    `wrk.method = "POST"\nwrk.headers["content-type"] = "application/json"\nwrk.body = '${JSON.stringify(request)}'\n`,
  );
  const own: StartPeer = async () => {
    const server = await startTollgate();
    return { server, url: `${server.http}/json` };
  };
  const raw: StartPeer = async () => {
    const { server, url } = await nodePeer("budgets/servers/waymark-json.ts")();
    return { server, url: `${new URL(url).origin}/json` };
  };
  try {
    const measured = await medians(
      { own: { start: own }, raw: { start: raw } },
      Math.max(5, rounds),
      ({ server, url }) => {
        wrk(server.pid, url, script, 3);
        return wrk(server.pid, url, script, 3);
      },
    );
    const [tollgate, waymark] = [measured.get("own")!, measured.get("raw")!];
    const share = tollgate.cpu / waymark.cpu - 1;
    return [
      {
        budget: "/json within 10 % of the raw Waymark figure",
        figure: `${(share * 100).toFixed(1)} % (${tollgate.cpu.toFixed(1)} us, ${Math.round(tollgate.perSecond)}/s)`,
        baseline: `a Waymark controller with the same JSON: ${waymark.cpu.toFixed(1)} us, ${Math.round(waymark.perSecond)}/s`,
        met: share <= 0.1,
        reason,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** Measures CPU microseconds per request and requests per second. */
function wrk(pid: number, url: string, script: string, seconds: number): { cpu: number; perSecond: number } {
  const before = cpuMicroseconds(pid);
  const args = ["-c", loadCores, "wrk", "-t1", "-c64", `-d${seconds}s`, "-s", script, url];
  const output = execFileSync("taskset", args, { encoding: "utf8" });
  const used = cpuMicroseconds(pid) - before;
  if (/Non-2xx|Socket errors/.test(output)) throw new Error(`wrk: ${output}`);
  const requests = Number(/(\d+) requests in/.exec(output)![1]);
  return { cpu: used / requests, perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)![1]) };
}
