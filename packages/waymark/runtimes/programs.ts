import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { after } from "node:test";
import { COMPATIBILITY_DATES } from "./install.ts";

export type RuntimeName = "node" | "bun" | "deno" | "workerd" | "lambda";

/** Runtimes that run a file as a program. */
type ProcessName = Exclude<RuntimeName, "workerd" | "lambda">;

const { BUN = "", DENO = "", WORKERD = "" } = process.env;

/** The command that runs a file. */
const COMMANDS: Readonly<Record<ProcessName, readonly string[]>> = {
  node: [process.execPath],
  bun: [BUN, "run"],
  deno: [DENO, "run", "--quiet", "--allow-all"],
};

export interface Program {
  readonly url: string;
  readonly port: number;
  /** The text that it has printed. */
  printed(): string;
  /** Ends it as a process manager does. @returns its exit status */
  stop(): Promise<number | null>;
}

/** Runs a file, without waiting for anything. */
export function runFile(
  runtime: ProcessName,
  file: string,
  environment: Readonly<Record<string, string>> = {},
): { child: ChildProcess; printed: () => string } {
  const [command, ...args] = COMMANDS[runtime];
  return start(command!, [...args, file], { cwd: dirname(file), environment });
}

/** Runs a file that serves, until it prints its address. */
export async function serveFile(
  runtime: ProcessName,
  file: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Program> {
  const { child, printed } = runFile(runtime, file, { HOST: "127.0.0.1", PORT: "0", ...environment });
  const url = await found(child, printed, /Waymark serves (http:\S+)/);
  return running(url, child, printed);
}

interface WorkerOptions {
  /** Text bindings. */
  readonly bindings?: Readonly<Record<string, string>>;
  /** Default the newest. Workers have the modules of Node from 2026-08-04, and not with the oldest. */
  readonly date?: keyof typeof COMPATIBILITY_DATES;
}

/** Runs the module of a worker with workerd, until it listens. */
export async function serveWorker(
  file: string,
  { bindings = {}, date = "newest" }: WorkerOptions = {},
): Promise<Program> {
  const config = file.replace(/\.mjs$/, ".capnp");
  writeFileSync(config, workerConfig(basename(file), { bindings, date }));
  const { child, printed } = start(WORKERD, ["serve", basename(config), "--control-fd=3"], {
    cwd: dirname(file),
    environment: {},
  });
  const port = await found(child, printed, /"event":"listen","socket":"http","port":(\d+)/);
  return running(`http://127.0.0.1:${port}`, child, printed);
}

function workerConfig(file: string, { bindings, date }: Required<WorkerOptions>): string {
  const texts = Object.entries(bindings).map(
    ([name, text]) => `(name = ${JSON.stringify(name)}, text = ${JSON.stringify(text)})`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed ${JSON.stringify(file)})],
  bindings = [${texts.join(", ")}],
  compatibilityDate = ${JSON.stringify(COMPATIBILITY_DATES[date])},
);
`;
}

interface StartOptions {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
}

function start(command: string, args: readonly string[], { cwd, environment }: StartOptions) {
  const env: NodeJS.ProcessEnv = { ...process.env, ...environment, NO_COLOR: "1" };
  delete env.NODE_TEST_CONTEXT;
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe", "pipe"] });
  after(() => child.kill("SIGKILL"));
  let text = "";
  for (const stream of [child.stdout, child.stderr, child.stdio[3]])
    (stream as NodeJS.ReadableStream).on("data", (piece) => {
      text += piece;
    });
  return { child, printed: () => text };
}

/** Resolves with the first group of a pattern, once the output matches. Rejects if the program ends before. */
function found(child: ChildProcess, printed: () => string, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const match = pattern.exec(printed());
      if (match !== null) resolve(match[1]!);
    };
    for (const stream of [child.stdout, child.stdio[3]]) (stream as NodeJS.ReadableStream).on("data", look);
    child.on("error", reject);
    child.on("close", () => reject(new Error(`ended without ${pattern}:\n${printed()}`)));
  });
}

function running(url: string, child: ChildProcess, printed: () => string): Program {
  return {
    url,
    port: Number(new URL(url).port),
    printed,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const closed = once(child, "close") as Promise<[number | null]>;
      child.kill("SIGTERM");
      return (await closed)[0];
    },
  };
}

/** A program that serves the application of a folder, as the manual writes it. */
const SERVERS = {
  node: `import { main, startServer } from "@tollway/waymark/server";
import { application } from "./app.ts";

await main(({ hostname, port }) => startServer(application, { host: hostname, port }));
`,
  bun: withManifest("bun"),
  deno: withManifest("deno"),
} as const;

function withManifest(runtime: "bun" | "deno"): string {
  return `import { main, serve } from "@tollway/waymark/${runtime}";
import { application } from "./app.ts";
import { manifest } from "./waymark.manifest.ts";

await main((address) => serve(application.startFrom(manifest), address));
`;
}

/** Writes the program into the folder. @returns its path */
export function writeServer(folder: string, runtime: keyof typeof SERVERS, app = "app.ts"): string {
  const file = join(folder, `serve-${runtime}.ts`);
  writeFileSync(file, SERVERS[runtime].replace("./app.ts", `./${app}`));
  return file;
}
