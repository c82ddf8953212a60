import type { DecisionObserver } from "../decision/decision-observer.ts";
import { DecisionLog } from "../observe/decision-log/decision-log.ts";
import type { Logger } from "../observe/log.ts";
import type { Statistics } from "../observe/statistics.ts";
import { type OtherTopKeys, processTopKeys } from "../observe/top-keys/process-top-keys.ts";
import type { TopKeys } from "../observe/top-keys/top-keys.ts";
import type { Settings } from "../settings/settings.ts";
import { openDecisionOutput } from "./decision-log.ts";
import { observeDecisions } from "./observer.ts";

/** The other threads that decide. */
interface OtherThreads {
  readonly topKeys: OtherTopKeys;
  setRecording(active: boolean): void;
}

/** The views of single decisions for operators: top keys, and the log of decisions. */
export interface Insight {
  /** The observer of the main thread. */
  readonly observer: DecisionObserver;
  readonly topKeys: TopKeys;
  readonly decisions: DecisionLog;
  /** Adds the other threads. */
  connect(grpc: OtherThreads): void;
  /** Writes the last decisions, within `milliseconds`. */
  close(milliseconds: number): Promise<void>;
}

/**
 * @param parts number of threads that decide, this one included
 * @throws {SettingsError} if the log of decisions cannot be opened
 */
export async function openInsight(
  settings: Settings,
  statistics: Statistics,
  log: Logger,
  parts: number,
): Promise<Insight> {
  const output = await openDecisionOutput(settings, statistics, log);
  const { observer, topKeys, recorder, outbox } = observeDecisions(settings, statistics, parts, (batch) => {
    outbox.taken(batch.size);
    decisions.receive(batch);
  });
  let threads: OtherThreads | undefined;
  const decisions = new DecisionLog({
    writer: output?.writer,
    log,
    onDemand: (needed) => {
      recorder.active = needed;
      threads?.setRecording(needed);
    },
  });
  recorder.active = decisions.needed;
  return {
    observer,
    decisions,
    topKeys: processTopKeys({
      own: topKeys,
      others: async (most, rule) => (await threads?.topKeys(most, rule)) ?? [],
      window: settings.topKeys?.window ?? 0,
    }),
    connect(grpc) {
      threads = grpc;
      // A subscription may have begun while the threads started.
      grpc.setRecording(decisions.needed);
    },
    async close(milliseconds) {
      outbox.flush();
      await output?.close(milliseconds);
    },
  };
}
