import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export const SERVERS = ["raw", "waymark", "hono", "fastify"] as const;
export type ServerName = (typeof SERVERS)[number];

/** A server of the benchmark, in a separate process on the first core. */
export interface BenchServer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const LAUNCHER = fileURLToPath(new URL("../../packages/waymark/bin/waymark.mjs", import.meta.url));

/** Starts a server: Waymark with its command, the others with their files in `servers/`. */
export async function startServer(name: ServerName): Promise<BenchServer> {
  const args =
    name === "waymark"
      ? [LAUNCHER, `--dir=${import.meta.dirname}`, "--prefix=controllers", "--host=127.0.0.1:0", "--quiet"]
      : [fileURLToPath(new URL(`servers/${name}.ts`, import.meta.url))];
  const child = spawn("taskset", ["-c", "0", process.execPath, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await addressOf(child, name);
  return {
    url,
    pid: child.pid!,
    stop: async () => {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
  };
}

function addressOf(child: ChildProcess, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error(`${name} exited before it was listening`)));
    child.stdout!.on("data", (text: Buffer) => {
      const url = /http:\/\/\S+/.exec(text.toString())?.[0];
      if (url !== undefined) resolve(url);
    });
  });
}
