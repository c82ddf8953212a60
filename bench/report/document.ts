import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import { machine, table } from "../support/figures.ts";
import { goBinary } from "../support/peers.ts";
import type { Section } from "./section.ts";

export interface Measurements {
  readonly where: string;
  readonly isQuick: boolean;
  /** Markdown, as are the others. */
  readonly budgets: string;
  readonly peers: string;
  readonly sections: readonly Section[];
  readonly stages: string;
  readonly allocations: string;
}

/** The machine and the versions of what takes part. */
export function environment(): string {
  const root = join(import.meta.dirname, "..", "..");
  const version = (name: string, folder = join(root, "bench")) =>
    (
      JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")) as {
        version: string;
      }
    ).version;
  const says = (command: string, ...args: string[]) => firstLine(command, args);
  return table(
    ["what", "version"],
    [
      ["machine", `${machine()}, ${Math.round(totalmem() / 1024 ** 3)} GiB`],
      ["Redis", /v=([\d.]+)/.exec(says("redis-server", "--version"))?.[1] ?? "unknown"],
      ["load", `${says("h2load", "--version")}; wrk for HTTP/1.1; bench/support/raw-load where calls differ`],
      ["@grpc/grpc-js", version("@grpc/grpc-js", root)],
      ["rate-limiter-flexible", version("rate-limiter-flexible")],
      ["@redis/client", version("@redis/client")],
      ["Go service", goBinary === undefined ? "not measured" : goBuild(goBinary)],
      ["measured", new Date().toISOString().slice(0, 10)],
    ],
  );
}

function firstLine(command: string, args: readonly string[]): string {
  return execFileSync(command, args, { encoding: "utf8" }).split("\n")[0]!.trim();
}

/** The compiler's version as it stands in the binary. */
function goBuild(binary: string): string {
  return /go1\.\d+(\.\d+)?/.exec(readFileSync(binary, "latin1"))?.[0] ?? "unknown";
}

/** `docs/performance.md`. */
export function page({
  where,
  isQuick,
  budgets,
  peers,
  sections,
  stages,
  allocations,
}: Measurements): string {
  const quick = isQuick ? "\n> From a quick run: one round of everything, and less of it.\n" : "";
  return `# Performance

<!-- Made by \`npm run bench -- report\`: changes belong into bench/report. -->
${quick}
Every figure here is a ratio, or has what to see it beside from the same run: a machine's own speed says little. CPU is
that of the server's process, all of its threads, the kernel's share included, divided by the calls. Each server runs
alone in a process on one core, the load (and Redis) on the others; servers take turns, and what is shown are medians
of the rounds.

${where}

\`\`\`
npm ci
npm run bench -- report              # this page; --quick for a look
npm run bench -- budgets [name ...]  # one table of it; likewise peers, stages
npm run bench -- allocations               # what CI checks: bytes that a decision allocates
\`\`\`

\`PEER_GO_SERVICE=path\` names the Go service's binary and lets it take part.

## Budgets

What the service has to hold.

${budgets}

## Beside others

The same rules, the same Redis, the same load, each service on one core. "x Tollgate over Redis" compares CPU.

${peers}
## Growth

${sections
  .map(
    ({ name, title, text, table: figures, plot }) => `### ${title}

${text}

![${plot.title}](performance/${name}.svg)

${figures}
`,
  )
  .join("\n")}
## Where the time goes

Stages of one decision of two entries, in a process of their own, in nanoseconds of CPU.

${stages}

## What is allocated

Bytes on the heap, from a request's bytes to its answer's. They are the same on every machine, which is why CI fails when
they grow by more than 10 %.

${allocations}
`;
}
