import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** `logged` is Waymark with the request id and the access log of its kit. */
export const SERVERS = ["raw", "waymark", "logged", "hono", "fastify"] as const;
export type ServerName = (typeof SERVERS)[number];

/** A server of the benchmark, in a separate process on the first core. */
export interface BenchServer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** The application that the command of Waymark serves, as an option of the command. */
const APPLICATIONS: Partial<Record<ServerName, string>> = {
  waymark: "--prefix=controllers",
  logged: "--app=logged.ts",
};
const LAUNCHER = fileURLToPath(new URL("../../packages/waymark/bin/waymark.mjs", import.meta.url));

/** Starts a server: Waymark by its command, the others with their files in `servers/`. */
export async function startServer(name: ServerName): Promise<BenchServer> {
  const application = APPLICATIONS[name];
  const args =
    application === undefined
      ? [fileURLToPath(new URL(`servers/${name}.ts`, import.meta.url))]
      : [LAUNCHER, `--dir=${import.meta.dirname}`, application, "--host=127.0.0.1:0", "--quiet"];
  const folder = mkdtempSync(join(tmpdir(), "waymark-output-"));
  const file = join(folder, "output.txt");
  // A file, and no pipe: nobody reads a pipe while the load runs.
  const output = openSync(file, "w");
  const child = spawn("taskset", ["-c", "0", process.execPath, ...args], {
    stdio: ["ignore", output, "inherit"],
  });
  closeSync(output);
  const url = await addressOf(child, name, file);
  return {
    url,
    pid: child.pid!,
    stop: async () => {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

async function addressOf(child: ChildProcess, name: string, file: string): Promise<string> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${name} exited before it was listening`);
    const url = /http:\/\/\S+(?=\s)/.exec(readFileSync(file, "utf8"))?.[0];
    if (url !== undefined) return url;
    await wait(10);
  }
}
