/**
 * Compares grpc-wire to the other gRPC servers for Node with the same empty unary method. Each server runs in a separate
 * process on one core, with the load (h2load) on the other. The servers take turns; the figures are medians of the
 * rounds.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureIdle } from "./idle.ts";
import { type Figures, load, ServerProcess, type Shape } from "./load.ts";
import { servers } from "./servers.ts";

const SHAPES: readonly Shape[] = [
  { connections: 8, streams: 50 },
  { connections: 4, streams: 8 },
  { connections: 1, streams: 1 },
];
const OURS = "grpc-wire";

/** `npm run bench -- grpc-wire [--rounds=3] [--seconds=2] [--idle=10000]` */
export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { rounds: { type: "string" }, seconds: { type: "string" }, idle: { type: "string" } },
  });
  const rounds = Number(values.rounds ?? 3);
  const seconds = Number(values.seconds ?? 2);
  const idle = Number(values.idle ?? 10_000);
  const folder = mkdtempSync(join(tmpdir(), "grpc-wire-bench-"));
  try {
    writeFileSync(join(folder, "body"), Buffer.alloc(5));
    const certificate = selfSigned(folder);
    for (const tls of [[], certificate]) {
      const started = new Map<string, ServerProcess>();
      for (const name of Object.keys(servers)) started.set(name, await ServerProcess.start(name, tls));
      for (const shape of SHAPES)
        report(shape, tls.length > 0, await compare(started, shape, rounds, seconds, folder));
      for (const server of started.values()) await server.stop();
    }
    await measureIdle([OURS, "node:http2", "@grpc/grpc-js"], idle, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function compare(
  started: ReadonlyMap<string, ServerProcess>,
  shape: Shape,
  rounds: number,
  seconds: number,
  folder: string,
): Promise<Map<string, Figures>> {
  const samples = new Map<string, Figures[]>([...started.keys()].map((name) => [name, []]));
  // Warm-up, not measured.
  for (const server of started.values()) await load(server, shape, 1, folder);
  for (let round = 0; round < rounds; round++)
    for (const [name, server] of started) samples.get(name)!.push(await load(server, shape, seconds, folder));
  return new Map([...samples].map(([name, all]) => [name, median(all)]));
}

/** Computes the median of each figure. */
function median(all: readonly Figures[]): Figures {
  const of = (key: keyof Figures) => all.map((each) => each[key]).sort((a, b) => a - b)[all.length >> 1]!;
  return {
    perSecond: of("perSecond"),
    cpuMicros: of("cpuMicros"),
    p50: of("p50"),
    p99: of("p99"),
    p999: of("p999"),
  };
}

function report(shape: Shape, isTls: boolean, figures: ReadonlyMap<string, Figures>): void {
  const { connections, streams } = shape;
  const own = figures.get(OURS)!;
  console.log(`\n${connections} x ${streams} calls in flight${isTls ? ", TLS" : ""}`);
  console.log(
    "                                      responses/s CPU/response x grpc-wire     p50     p99   p99.9 ms",
  );
  for (const [name, { perSecond, cpuMicros, p50, p99, p999 }] of figures) {
    const cells = [
      Math.round(perSecond).toLocaleString("en").padStart(9),
      `${cpuMicros.toFixed(2)} µs`.padStart(13),
      (cpuMicros / own.cpuMicros).toFixed(1).padStart(13),
      ...[p50, p99, p999].map((time) => time.toFixed(2).padStart(8)),
    ];
    console.log(name.padEnd(40) + cells.join(""));
  }
  if (isTls) return;
  const grpcJs = figures.get("@grpc/grpc-js")!;
  const http2 = figures.get("node:http2")!;
  if (connections === 8) {
    const times = grpcJs.cpuMicros / own.cpuMicros;
    verdict("at least 15 times cheaper than @grpc/grpc-js", times >= 15, `${times.toFixed(1)} times`);
  } else if (connections === 1) {
    const share = own.perSecond / http2.perSecond;
    verdict("no slower than node:http2", share >= 1, `${share.toFixed(2)} times its responses/s`);
  }
}

function verdict(budget: string, met: boolean, figure: string): void {
  console.log(`${met ? "met   " : "MISSED"}  ${budget}: ${figure}`);
}

/** Creates a certificate and its key for this run and returns their paths. */
function selfSigned(folder: string): string[] {
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const subject = ["-days", "2", "-subj", "/CN=localhost"];
  execFileSync("openssl", ["req", "-x509", ...ec, "-keyout", key, "-out", cert, ...subject], {
    stdio: "pipe",
  });
  return [cert, key];
}
