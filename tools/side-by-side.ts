/**
 * Runs two lists of commands at the same time, the second one alone on the last core. CI uses it for `npm run test:slow`,
 * which needs one core for long.
 *
 *   node tools/side-by-side.ts 'COMMAND' 'COMMAND' ... -- 'COMMAND' ...
 *
 * Each list stops at its first failure, and a failure ends the other list, too. The output of each list is printed whole
 * at the end, that of a failed one last. The exit status is that of the command that failed.
 *
 * Without `taskset` or a second core the lists run one after the other.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createReadStream, mkdtempSync, openSync, rmSync, statSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

const PROGRESS_INTERVAL_MS = 60_000;
/** A group that ignores SIGTERM for so long is killed. */
const PATIENCE_MS = 10_000;

/** Kills the group of a command when this process ends, however it ends. */
const WATCHDOG = 'trap "" INT TERM HUP; read -r _; kill -KILL "-$1" 2>/dev/null';

/** Runs a command as soon as its watchdog runs, too. Otherwise it would outlive this process if this ended in between. */
const GATE = 'read -r _ || exit 1; exec /bin/sh -c "$1" </dev/null';

/** Numbers of the cores that this process may use; empty without `taskset`. */
function usableCores(): number[] {
  const { stdout } = spawnSync("taskset", ["-cp", String(process.pid)], { encoding: "utf8" });
  const list = stdout?.match(/:\s*([\d,-]+)\s*$/)?.[1] ?? "";
  return list.split(",").flatMap((range) => {
    const [from, to = from] = range.split("-");
    if (!from) return [];
    return Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index);
  });
}

/** Commands that run one after the other, in groups of their own, with their output in a file. */
class Track {
  readonly log: string;
  readonly ended: Promise<number>;
  readonly #cores: string;
  #running = "";
  #child: ChildProcess | undefined;
  #stopped = false;

  constructor(commands: readonly string[], cores: readonly number[], log: string) {
    this.log = log;
    this.#cores = cores.join();
    this.ended = this.#run(commands);
  }

  /** The command that runs, or the last one. */
  get running(): string {
    return this.#running;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#signal("SIGTERM");
    const timer = setTimeout(() => this.#signal("SIGKILL"), PATIENCE_MS);
    await this.ended;
    clearTimeout(timer);
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#child?.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch {
      // It has ended.
    }
  }

  async #run(commands: readonly string[]): Promise<number> {
    const output = openSync(this.log, "a");
    for (const command of commands) {
      if (this.#stopped) break;
      this.#running = command;
      const code = await this.#runOne(command, output);
      if (code !== 0) return code;
    }
    return 0;
  }

  async #runOne(command: string, output: number): Promise<number> {
    const child = spawn("taskset", ["-c", this.#cores, "/bin/sh", "-c", GATE, "gate", command], {
      stdio: ["pipe", output, output],
      detached: true,
    });
    this.#child = child;
    child.stdin!.on("error", () => {
      // It has ended.
    });
    const watchdog = spawn("/bin/sh", ["-c", WATCHDOG, "watchdog", String(child.pid)], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    child.stdin!.end("\n");
    const code = await new Promise<number>((resolve) => {
      child.once("error", () => resolve(1));
      child.once("exit", (status, signal) => resolve(status ?? 128 + constants.signals[signal!]));
    });
    this.#child = undefined;
    watchdog.kill("SIGKILL");
    return code;
  }
}

async function print(track: Track): Promise<void> {
  await pipeline(createReadStream(track.log), process.stdout, { end: false });
}

async function sideBySide(tracks: readonly Track[]): Promise<number> {
  const begun = performance.now();
  const progress = setInterval(() => {
    const minutes = Math.round((performance.now() - begun) / 60_000);
    for (const { running, log } of tracks)
      console.log(`after ${minutes} min: ${running} (${statSync(log).size} bytes of output)`);
  }, PROGRESS_INTERVAL_MS);
  const failed = await new Promise<Track | undefined>((resolve) => {
    for (const track of tracks) void track.ended.then((code) => code !== 0 && resolve(track));
    void Promise.all(tracks.map((track) => track.ended)).then(() => resolve(undefined));
  });
  clearInterval(progress);
  const others = tracks.filter((track) => track !== failed);
  await Promise.all(others.map((track) => track.stop()));
  for (const track of others) await print(track);
  if (failed === undefined) return 0;
  await print(failed);
  const code = await failed.ended;
  console.log(`✖ ${failed.running}: exit status ${code}`);
  return code;
}

/** One after the other, with their output as it comes. */
function inTurn(commands: readonly string[]): number {
  for (const command of commands) {
    const { status } = spawnSync("/bin/sh", ["-c", command], { stdio: "inherit" });
    if (status !== 0) return status ?? 1;
  }
  return 0;
}

const words = process.argv.slice(2);
const at = words.indexOf("--");
const [first, second] = [words.slice(0, at), words.slice(at + 1)];
if (at < 0 || first.length === 0 || second.length === 0) {
  console.error("usage: node tools/side-by-side.ts 'COMMAND' ... -- 'COMMAND' ...");
  process.exit(2);
}
const cores = usableCores();
if (cores.length < 2) process.exit(inTurn([...first, ...second]));
const folder = mkdtempSync(join(tmpdir(), "side-by-side-"));
const tracks: Track[] = [];
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.once(signal, async () => {
    await Promise.all(tracks.map((track) => track.stop()));
    for (const track of tracks) await print(track);
    process.exit(128 + constants.signals[signal]);
  });
tracks.push(
  new Track(first, cores.slice(0, -1), join(folder, "first")),
  new Track(second, cores.slice(-1), join(folder, "second")),
);
const code = await sideBySide(tracks);
rmSync(folder, { recursive: true });
process.exitCode = code;
