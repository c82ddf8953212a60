import { statSync } from "node:fs";
import { resolve } from "node:path";
import { readLog } from "../replay/read-log.ts";
import { Replay } from "../replay/replay.ts";
import { hasColor } from "./check.ts";
import { readOrThrow } from "./check-files.ts";
import { REPLAY } from "./descriptions.ts";
import { UsageError } from "./flags.ts";
import type { CommandIo } from "./io.ts";
import { loadConfiguration } from "./load-configuration.ts";
import { ProgressBar } from "./progress-bar.ts";
import { replayJson, replayText } from "./replay-format.ts";
import { parseReplayOptions, type ReplayOptions } from "./replay-options.ts";
import { usageOf } from "./usage.ts";

/** `tollgate replay`: tries a configuration on recorded decisions. Resolves with the exit status. */
export async function runReplay(argv: readonly string[], io: CommandIo): Promise<number> {
  try {
    const options = parseReplayOptions(argv);
    if (options.help) {
      io.stdout.write(usageOf(REPLAY));
      return 0;
    }
    const ruleSet = await loadConfiguration(options.config, options, io);
    if (ruleSet === undefined) return 1;
    const replay = new Replay(ruleSet, options);
    const seconds = await readAll(replay, options, io);
    const json = () => `${JSON.stringify(replayJson(replay, options.top, seconds), undefined, 2)}\n`;
    io.stdout.write(options.json ? json() : replayText(replay, options.top, seconds, hasColor(io)));
    return options.check && replay.sums.newlyRefused > 0 ? 3 : 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.stderr.write(`tollgate replay: ${error.message}\nSee tollgate replay --help.\n`);
    return 2;
  }
}

/** Reads all logs. Resolves with the seconds that it took. @throws {UsageError} if one cannot be read */
async function readAll(replay: Replay, { logs }: ReplayOptions, io: CommandIo): Promise<number> {
  const begin = performance.now();
  const sizes = logs.map((log) => sizeOf(log, io.cwd));
  const total = sizes.includes(undefined)
    ? undefined
    : sizes.reduce((sum: number, size) => sum + (size ?? 0), 0);
  const bar = new ProgressBar(io.stderr, total);
  let before = 0;
  for (const [index, log] of logs.entries()) {
    const source = log === "-" ? (io.stdin ?? []) : resolve(io.cwd, log);
    replay.startLog(log === "-" ? "<standard input>" : log);
    try {
      await readLog(source as string, replay, (bytes) => bar.update(before + bytes, replay.lines));
    } catch (error) {
      bar.clear();
      const { code, message } = error as NodeJS.ErrnoException;
      throw new UsageError(`${log}: cannot be read (${code ?? message})`);
    }
    before += sizes[index] ?? 0;
  }
  replay.end();
  bar.clear();
  return (performance.now() - begin) / 1000;
}

/** Bytes of a file; undefined if they are unknown, as of a pipe. @throws {UsageError} */
function sizeOf(log: string, cwd: string): number | undefined {
  if (log === "-") return undefined;
  const found = readOrThrow(log, cwd, () => statSync(resolve(cwd, log)));
  if (found.isDirectory()) throw new UsageError(`${log}: is a directory; pass the log file`);
  return found.isFile() ? found.size : undefined;
}
