import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";

const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
export const PYTHON_PATH = join(PACKAGE, "python");
const FIXTURES = join(PACKAGE, "test", "fixtures", "python");

export type ServerName =
  | "uvicorn"
  | "hypercorn"
  | "daphne"
  | "gunicorn"
  | "gunicorn-threads"
  | "wsgiref"
  | "wsgiref-validate";

// Its default limit is too small for the longest row of the table.
const GUNICORN = ["/usr/bin/gunicorn", "--bind=127.0.0.1:0", "--limit-request-line=8190"] as const;

/** The command of each of Debian's servers, with a free port that it prints. */
export const COMMANDS: Readonly<Record<ServerName, readonly string[]>> = {
  uvicorn: ["/usr/bin/uvicorn", "--port=0", "--factory", "waymark.asgi:factory"],
  hypercorn: ["/usr/bin/hypercorn", "--bind=127.0.0.1:0", "waymark.asgi:application"],
  daphne: ["/usr/bin/daphne", "--endpoint=tcp:port=0:interface=127.0.0.1", "waymark.asgi:application"],
  gunicorn: [...GUNICORN, "waymark.wsgi:application"],
  "gunicorn-threads": [...GUNICORN, "--threads=8", "waymark.wsgi:application"],
  wsgiref: ["/usr/bin/python3", join(FIXTURES, "wsgiref_server.py")],
  "wsgiref-validate": ["/usr/bin/python3", join(FIXTURES, "wsgiref_server.py"), "--validate"],
};

export interface Ended {
  readonly status: number | null;
  readonly log: string;
}

/**
 * Kills a process group when its standard input ends without a line, because the process of the test was killed. Each
 * server has its own process group, which includes its workers.
 */
const WATCHDOG = `trap '' INT TERM HUP; read -r _ || kill -9 "-$1"`;

/** Watches the process group of a server. @returns a function that ends the watch */
function watch(group: number): () => void {
  const shell = spawn("/bin/sh", ["-c", WATCHDOG, "watchdog", String(group)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  const { stdin } = shell;
  // The watchdog must not keep the process of the test alive.
  shell.unref();
  (stdin as typeof stdin & { unref(): void }).unref();
  return () => stdin.end("\n");
}

const started = new Set<PythonServer>();
// Registered once per file, because a hook that is registered within another hook runs with that hook.
after(async () => {
  for (const server of started) {
    if (isRunning(server.child.pid!)) process.kill(-server.child.pid!, "SIGKILL");
    await server.ended;
  }
});

/** A running Python server and its output. */
export class PythonServer {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  #log = "";
  #port: number | undefined;

  constructor(
    command: readonly string[],
    folder: string,
    environment: Readonly<Record<string, string>> = {},
  ) {
    const [program, ...args] = command;
    this.child = spawn(program!, args, {
      cwd: folder,
      env: pythonEnvironment(environment),
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    const unwatch = watch(this.child.pid!);
    for (const stream of [this.child.stdout!, this.child.stderr!])
      stream.setEncoding("utf8").on("data", (text: string) => {
        // Servers print colours on a terminal.
        this.#log += stripVTControlCharacters(text);
      });
    this.ended = once(this.child, "close").then(([status]) => {
      unwatch();
      return { status: status as number | null, log: this.#log };
    });
    started.add(this);
  }

  get log(): string {
    return this.#log;
  }

  get port(): number {
    return this.#port!;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Resolves once the output matches. Rejects if the server ends before. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.#log);
      if (found !== null) return found;
      const more = Promise.race([once(this.child.stdout!, "data"), once(this.child.stderr!, "data")]);
      const over = this.ended.then(() => "over" as const);
      if ((await Promise.race([more, over])) === "over" && !pattern.test(this.#log))
        throw new Error(`the server ended without ${pattern}:\n${this.#log}`);
    }
  }

  /** Resolves once the server answers. */
  async ready(): Promise<this> {
    const found = await this.printed(
      /(?:running on|serving on|Listening at:?|Listening on TCP address) (?:http:\/\/)?(?:127\.0\.0\.1):([1-9]\d*)/i,
    );
    this.#port = Number(found[1]);
    const deadline = Date.now() + 20_000;
    for (;;) {
      try {
        // gunicorn listens before its workers are loaded, and answers once they are.
        await fetch(this.url, { signal: AbortSignal.timeout(15_000) });
        return this;
      } catch (error) {
        if (Date.now() > deadline || this.child.exitCode !== null)
          throw new Error(`the server does not answer:\n${this.#log}`, { cause: error });
      }
    }
  }

  /** The server's processes and all their descendants. */
  processes(): number[] {
    return [this.child.pid!, ...descendants(this.child.pid!).map(({ pid }) => pid)];
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<Ended> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal);
    started.delete(this);
    return this.ended;
  }
}

/** The environment of a user who has set PYTHONPATH, without variables of the test runner. */
export function pythonEnvironment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT, NODE_OPTIONS, FRAMEWORK_PREFIX, WAYMARK_APP, ...rest } = process.env;
  return {
    ...rest,
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    PYTHONPATH: PYTHON_PATH,
    PYTHONDONTWRITEBYTECODE: "1",
    PYTHONUNBUFFERED: "1",
    ...extra,
  };
}

/** The Node processes among a process and its descendants. */
export function nodesUnder(pid: number): number[] {
  return descendants(pid).flatMap((each) => (each.words.includes("bridge") ? [each.pid] : []));
}

function descendants(root: number): { pid: number; words: string[] }[] {
  const all = new Map<number, { parent: number; words: string[] }>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (state === "Z") continue;
      const words = readFileSync(`/proc/${name}/cmdline`, "latin1").split("\0");
      all.set(Number(name), { parent: Number(parent), words });
    } catch {
      // It has ended in the meantime.
    }
  }
  const isUnder = (pid: number): boolean => {
    const parent = all.get(pid)?.parent;
    return parent !== undefined && (parent === root || isUnder(parent));
  };
  return [...all].filter(([pid]) => isUnder(pid)).map(([pid, { words }]) => ({ pid, words }));
}

/** Resolves once all of these processes have ended. */
export async function gone(pids: readonly number[], within: number): Promise<void> {
  const deadline = Date.now() + within;
  for (;;) {
    const left = pids.filter(isRunning);
    if (left.length === 0) return;
    if (Date.now() > deadline) throw new Error(`still running: ${left.join(", ")}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}
