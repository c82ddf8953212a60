/**
 * Measures the cost of the Python bridge: compares TypeScript controllers under uvicorn and gunicorn to a plain Python
 * application with the same response on the same server. The applications take turns, with one worker each. The load
 * (wrk) runs on the same cores.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "../support/tollgate.ts";

const FOLDER = join(import.meta.dirname, "servers");
const PYTHON_PATH = join(import.meta.dirname, "..", "..", "packages", "waymark", "python");

type Side = "plain" | "waymark";

interface Server {
  readonly name: string;
  command(port: number, side: Side): string[];
}

const ASGI: Record<Side, string> = { plain: "plain:asgi", waymark: "waymark.asgi:application" };
const WSGI: Record<Side, string> = { plain: "plain:wsgi", waymark: "waymark.wsgi:application" };

function servers(bin: string): Server[] {
  const gunicorn = (port: number, side: Side, ...more: string[]) => [
    `${bin}/gunicorn`,
    `--bind=127.0.0.1:${port}`,
    ...more,
    WSGI[side],
  ];
  return [
    {
      name: "uvicorn",
      command: (port, side) => [
        `${bin}/uvicorn`,
        `--port=${port}`,
        "--no-access-log",
        "--log-level=warning",
        ASGI[side],
      ],
    },
    { name: "gunicorn", command: (port, side) => gunicorn(port, side) },
    { name: "gunicorn --threads=8", command: (port, side) => gunicorn(port, side, "--threads=8") },
  ];
}

/** Requests per second for each number of connections. */
type Sample = Readonly<Record<1 | 64, number>>;

/** `npm run bench -- python [--rounds=3] [--seconds=3] [--bin=/usr/bin]` */
export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { rounds: { type: "string" }, seconds: { type: "string" }, bin: { type: "string" } },
  });
  const rounds = Number(values.rounds ?? 3);
  const seconds = Number(values.seconds ?? 3);
  for (const server of servers(values.bin ?? "/usr/bin")) {
    const samples: Record<Side, Sample[]> = { plain: [], waymark: [] };
    for (let round = 0; round < rounds; round++) {
      const order: Side[] = round % 2 === 0 ? ["plain", "waymark"] : ["waymark", "plain"];
      for (const side of order) samples[side].push(await measure(server, side, seconds));
    }
    report(server.name, samples);
  }
}

async function measure(server: Server, side: Side, seconds: number): Promise<Sample> {
  const port = await freePort();
  const [program, ...args] = server.command(port, side);
  const child = spawn(program!, args, {
    cwd: FOLDER,
    env: {
      ...process.env,
      PYTHONPATH: `${PYTHON_PATH}:${FOLDER}`,
      PYTHONDONTWRITEBYTECODE: "1",
      FRAMEWORK_PREFIX: "controllers",
    },
    stdio: "ignore",
  });
  const ended = once(child, "exit");
  try {
    await untilResponse(port, child);
    load(port, 64, 1);
    return { 1: load(port, 1, seconds), 64: load(port, 64, seconds) };
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}

async function untilResponse(port: number, child: { exitCode: number | null }): Promise<void> {
  for (;;) {
    try {
      const text = await (await fetch(`http://127.0.0.1:${port}/`)).text();
      if (text !== '"Default handler"') throw new Error(`unexpected response: ${text}`);
      return;
    } catch (error) {
      if (child.exitCode !== null) throw new Error("the server has ended", { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function load(port: number, connections: number, seconds: number): number {
  const url = `http://127.0.0.1:${port}/`;
  const text = execFileSync("wrk", ["-t1", `-c${connections}`, `-d${seconds}s`, url], { encoding: "utf8" });
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(text)![1]);
}

function report(name: string, { plain, waymark }: Record<Side, Sample[]>): void {
  console.log(`\n${name}: requests per second, median (minimum to maximum) of ${plain.length} rounds`);
  for (const connections of [1, 64] as const) {
    const [before, after] = [plain, waymark].map((samples) =>
      samples.map((sample) => sample[connections]).sort((one, other) => one - other),
    ) as [number[], number[]];
    const [was, is] = [median(before), median(after)];
    const added = connections === 1 ? `, adds ${(1000 / is - 1000 / was).toFixed(3)} ms` : "";
    console.log(
      `  ${String(connections).padStart(2)} connections: plain ${shown(before)}, waymark ${shown(after)}: ${(is / was).toFixed(2)} of plain${added}`,
    );
  }
}

function shown(sorted: readonly number[]): string {
  return `${median(sorted).toFixed(0)} (${sorted[0]!.toFixed(0)} to ${sorted.at(-1)!.toFixed(0)})`;
}

function median(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)]!;
}
