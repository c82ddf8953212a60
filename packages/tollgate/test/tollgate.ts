import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

/** A real Tollgate process, with settings in the environment and rules in files. */
export interface RunningTollgate {
  readonly http: string;
  readonly grpc: string;
  readonly debug: string;
  /** The folder of its configuration files. */
  readonly config: string;
  readonly pid: number;
  /** All lines on standard error so far. */
  readonly log: readonly string[];
  readonly output: readonly string[];
  /** Resolves with the first past or future line of the log that matches. Rejects if the process ends without one. */
  logged(pattern: RegExp): Promise<string>;
  /** Resolves with all lines that match as soon as there are so many: a line may arrive after an answer that follows it. */
  loggedTimes(pattern: RegExp, times: number): Promise<readonly string[]>;
  /** Resolves when the process has ended by itself. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  signal(signal: NodeJS.Signals): void;
  /** Sends a signal (default SIGTERM) and resolves with the exit of the process. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export interface TollgateOptions {
  /** Contents by file name. Default: no files. */
  readonly config?: Readonly<Record<string, string>>;
  /** A folder from which to copy the configuration instead. */
  readonly configFrom?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Resolve when the process runs, before its listeners are open. */
  readonly unopened?: boolean;
}

const command = fileURLToPath(new URL("../bin/tollgate.mjs", import.meta.url));

/** This process's environment without Tollgate's variables. */
export const bareEnvironment: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? "",
  HOME: process.env.HOME ?? "/",
  NO_COLOR: "1",
};

/** The processes that {@link startTollgate} started. */
const running = new Set<RunningTollgate>();
// A test that fails may not reach its stop. The file would then wait for the process until its time is over.
if (process.env.NODE_TEST_CONTEXT !== undefined)
  after(async () => {
    for (const tollgate of running) await tollgate.stop("SIGKILL");
  });

export async function startTollgate(options: TollgateOptions = {}): Promise<RunningTollgate> {
  const root = await mkdtemp(join(tmpdir(), "tollgate-test-"));
  const config = join(root, "config");
  if (options.configFrom === undefined) await mkdir(config);
  else await cp(options.configFrom, config, { recursive: true });
  for (const [name, text] of Object.entries(options.config ?? {})) await writeFile(join(config, name), text);
  const child = spawn(process.execPath, [command, ...(options.args ?? [])], {
    env: {
      ...bareEnvironment,
      RUNTIME_ROOT: root,
      RUNTIME_WATCH_ROOT: "false",
      BACKEND_TYPE: "embedded",
      DISABLE_STATS: "true",
      HOST: "127.0.0.1",
      GRPC_HOST: "127.0.0.1",
      DEBUG_HOST: "127.0.0.1",
      PORT: "0",
      GRPC_PORT: "0",
      WORKERS: "1",
      DEBUG_PORT: "0",
      ...options.env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const process_ = new Watched(child, root);
  running.add(process_);
  void process_.ended.then(() => running.delete(process_));
  try {
    const last = options.env?.HTTP_ENABLED === "false" ? /Listening for gRPC on/ : /Listening for HTTP on/;
    if (!options.unopened) await process_.logged(last);
  } catch (error) {
    await process_.stop("SIGKILL");
    throw error;
  }
  return process_;
}

/** Wraps a Tollgate process that the caller started with piped standard output and error. */
export function watchTollgate(child: ChildProcess): RunningTollgate {
  return new Watched(child, undefined);
}

/** Waits for several lines that match. */
interface Waiter {
  readonly pattern: RegExp;
  readonly times: number;
  readonly resolve: (lines: readonly string[]) => void;
  readonly reject: (error: Error) => void;
}

class Watched implements RunningTollgate {
  readonly config: string;
  readonly log: string[] = [];
  readonly output: string[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly #waiting = new Set<Waiter>();
  #over = false;

  constructor(child: ChildProcess, root: string | undefined) {
    this.#child = child;
    this.config = join(root ?? "", "config");
    createInterface(child.stdout!).on("line", (line) => this.output.push(line));
    createInterface(child.stderr!).on("line", (line) => this.#receive(line));
    this.#ended = once(child, "close").then(async ([code, signal]) => {
      this.#over = true;
      for (const { pattern, reject } of this.#waiting) reject(this.#silent(pattern));
      if (root !== undefined) await rm(root, { recursive: true, force: true });
      return { code, signal };
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }
  get ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    return this.#ended;
  }
  get http(): string {
    return this.#address("HTTP");
  }
  get grpc(): string {
    return this.#address("gRPC");
  }
  get debug(): string {
    return this.#address("debug");
  }

  async logged(pattern: RegExp): Promise<string> {
    return (await this.loggedTimes(pattern, 1))[0]!;
  }

  loggedTimes(pattern: RegExp, times: number): Promise<readonly string[]> {
    const known = this.#matching(pattern);
    if (known.length >= times) return Promise.resolve(known);
    if (this.#over) return Promise.reject(this.#silent(pattern));
    return new Promise((resolve, reject) => this.#waiting.add({ pattern, times, resolve, reject }));
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  stop(signal: NodeJS.Signals = "SIGTERM"): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    if (!this.#over) this.#child.kill(signal);
    return this.#ended;
  }

  #receive(line: string): void {
    this.log.push(line);
    for (const waiter of this.#waiting) {
      if (!waiter.pattern.test(line)) continue;
      const known = this.#matching(waiter.pattern);
      if (known.length < waiter.times) continue;
      this.#waiting.delete(waiter);
      waiter.resolve(known);
    }
  }

  #matching(pattern: RegExp): readonly string[] {
    return this.log.filter((line) => pattern.test(line));
  }

  #silent(pattern: RegExp): Error {
    return new Error(`tollgate ended without logging ${pattern}:\n${this.log.join("\n")}`);
  }

  #address(listener: string): string {
    const line = this.log.find((text) => text.includes(`Listening for ${listener} on`));
    const address = /on '([^']+)'/.exec(line ?? "")?.[1];
    if (address === undefined) throw new Error(`no listener for ${listener} yet:\n${this.log.join("\n")}`);
    return address;
  }
}
