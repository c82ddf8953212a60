import { fstatSync } from "node:fs";
import { type LineWriter, writerTo } from "../observe/descriptor-writer.ts";
import type { Logger } from "../observe/log.ts";
import type { Statistics } from "../observe/statistics.ts";
import { SettingsError } from "../settings/errors.ts";
import type { Settings } from "../settings/settings.ts";
import { DROPPED } from "./observer.ts";

/** The destination of the log of decisions. */
export interface DecisionOutput {
  readonly writer: LineWriter;
  /** Writes what waits, within `milliseconds`. */
  close(milliseconds: number): Promise<void>;
}

const STDOUT = 1;
const MAX_HELD_BYTES = 4 * 1024 * 1024;

/** Opens `DECISION_LOG`. Undefined if it is not set. @throws {SettingsError} if the file cannot be opened */
export async function openDecisionOutput(
  { decisionLog: { target } }: Settings,
  statistics: Statistics,
  log: Logger,
): Promise<DecisionOutput | undefined> {
  if (target === undefined) return undefined;
  const output = target === "stdout" ? await openStandardOutput(log) : await openFile(target, log);
  statistics.counterFrom(DROPPED, () => output.writer.dropped);
  return output;
}

async function openStandardOutput(log: Logger): Promise<DecisionOutput> {
  // Writes to a file block while its disk is slow, so they run in other threads.
  if (fstatSync(STDOUT).isFile()) return openFile("/dev/stdout", log);
  const writer = writerTo(STDOUT, { maxHeldBytes: MAX_HELD_BYTES });
  return { writer, close: (milliseconds) => writer.flush(milliseconds) };
}

async function openFile(path: string, log: Logger): Promise<DecisionOutput> {
  const { LogFile } = await import("../observe/decision-log/log-file.ts");
  try {
    const file = await LogFile.open(path, { log, maxHeldBytes: MAX_HELD_BYTES });
    return { writer: file, close: (milliseconds) => file.close(milliseconds) };
  } catch (error) {
    const message = `cannot be opened: ${(error as Error).message}`;
    throw new SettingsError([{ variable: "DECISION_LOG", value: path, message }]);
  }
}
