/**
 * Real servers for tests. Each server runs under a small shell. At the end of its standard input the shell kills the
 * server and removes its folder. So nothing stays behind when a test stops the server or the test process is killed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isTimeUp } from "../../../../tools/time-scale.ts";

const WATCHDOG = `
trap '' INT TERM HUP
folder=$1; shift
"$@" >"$folder/output" 2>&1 &
pid=$!
echo $pid
read -r _
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
rm -rf "$folder"
`;

const START_TIMEOUT_MS = 15_000;

/** Creates a folder in the system's temporary folder. */
export function temporaryFolder(name: string): string {
  return mkdtempSync(join(tmpdir(), `tollgate-${name}-`));
}

/** Creates a folder that is removed when this process ends, for any reason. */
export function folderOfThisProcess(name: string): string {
  const folder = temporaryFolder(name);
  const shell = spawn("/bin/sh", ["-c", `trap '' INT TERM HUP; read -r _; rm -rf "$1"`, "watchdog", folder], {
    stdio: ["pipe", "ignore", "inherit"],
  });
  shell.unref();
  (shell.stdin as unknown as { unref(): void }).unref();
  return folder;
}

/** Finds a free TCP port of 127.0.0.1. Another process may take it before its use. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export class ServerProcess {
  readonly pid: number;
  readonly folder: string;
  readonly #shell: ChildProcess;
  readonly #gone: Promise<void>;

  private constructor(shell: ChildProcess, pid: number, folder: string) {
    this.#shell = shell;
    this.pid = pid;
    this.folder = folder;
    this.#gone = new Promise((resolve) => shell.once("exit", () => resolve()));
  }

  static async start(command: string, args: readonly string[], folder: string): Promise<ServerProcess> {
    const shell = spawn("/bin/sh", ["-c", WATCHDOG, "watchdog", folder, command, ...args], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/bin` },
    });
    const pid = await new Promise<number>((resolve, reject) => {
      shell.stdout!.once("data", (line: Buffer) => resolve(Number(line.toString())));
      shell.once("error", reject);
    });
    // The shell and its pipes must not keep the test process alive.
    shell.unref();
    (shell.stdout as unknown as { unref(): void }).unref();
    (shell.stdin as unknown as { unref(): void }).unref();
    return new ServerProcess(shell, pid, folder);
  }

  get alive(): boolean {
    try {
      process.kill(this.pid, 0);
      // The shell waits for the server only at the end. Until then a dead server is a zombie.
      return (
        !existsSync("/proc/self") || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${this.pid}/stat`, "latin1"))
      );
    } catch {
      return false;
    }
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }

  /** Stops the process (SIGSTOP) and waits until all of its threads are stopped. */
  async pause(): Promise<void> {
    this.signal("SIGSTOP");
    const tasks = `/proc/${this.pid}/task`;
    const stopped = () =>
      readdirSync(tasks).every((task) => / T /.test(readFileSync(`${tasks}/${task}/stat`, "latin1")));
    while (existsSync(tasks) && !stopped()) await sleep(1);
  }

  /** Waits until `ready` returns true. Fails with the server's output if it ends or takes too long. */
  async whenReady(ready: () => Promise<boolean>): Promise<void> {
    const begun = performance.now();
    while (!(await ready().catch(() => false))) {
      if (!this.alive || isTimeUp(begun, START_TIMEOUT_MS)) {
        const output = readFileSync(join(this.folder, "output"), "utf8");
        await this.stop();
        throw new Error(`the server did not start: ${output.slice(-2000)}`);
      }
      await sleep(10);
    }
  }

  /** Kills the server and waits for its end and the removal of its folder. */
  async stop(): Promise<void> {
    this.#shell.ref();
    this.#shell.stdin!.end();
    await this.#gone;
  }
}

/** Tries again with other ports if another process took one. */
export async function withFreePorts<T>(count: number, start: (ports: number[]) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const ports: number[] = [];
    while (ports.length < count) ports.push(await freePort());
    try {
      return await start(ports);
    } catch (error) {
      if (attempt === 3) throw error;
    }
  }
}
