import { setTimeout as sleep } from "node:timers/promises";
import { scaled } from "../../../tools/time-scale.ts";
import type { CounterStore } from "../src/counters/store.ts";
import { type KeyTally, Load, memory } from "./load-generator.ts";

/** A store that is about to fall sick. */
export interface System {
  /** Two of them stand for two processes of a fleet. */
  readonly stores: readonly CounterStore[];
  /** Makes it sick; the load goes on meanwhile. */
  injectFault(): Promise<void> | void;
  /** Makes it well again. */
  recover(): Promise<void> | void;
  /** Ends its servers. */
  stop(): Promise<void>;
}

export interface Scenario {
  readonly store: string;
  readonly fault: string;
  open(): Promise<System>;
  /**
   * Hits that the store itself may forget: all that were admitted until it was injectFault, or until it was recovered, or
   * those admitted while it was being injectFault. Default: none.
   */
  readonly forgets?: "before the fault" | "before the recovery" | "during the fault";
  /** Hits by which processes that do not wait for their increments may pass a limit. Default 0. */
  readonly overlap?: number;
  /** Whether no call may fail. */
  readonly unnoticed?: boolean;
}

export interface Result {
  readonly scenario: Scenario;
  readonly calls: number;
  readonly failed: number;
  readonly errors: string;
  readonly late: number;
  readonly slowest: number;
  /** Milliseconds for which this process itself stood still, at the longest. */
  readonly stall: number;
  /** Calls admitted beyond the limit, and refused before it was reached, over all keys. */
  readonly over: number;
  readonly under: number;
  /** What the promise allows. */
  readonly mostOver: number;
  readonly mostUnder: number;
  /** Bytes. */
  readonly before: number;
  readonly during: number;
  readonly after: number;
  /** Milliseconds from the healing until every key was answered again. */
  readonly recovery: number;
}

export interface RunOptions {
  /** Milliseconds for which the store is sick. */
  readonly outageMs: number;
  readonly deadline: number;
}

const STEADY_MS = scaled(150);
const KEYS = 16;
const CALLERS = 24;
const RECOVERY_LIMIT_MS = scaled(20_000);
/** Well below the stores' time-out, of which a proxy with a delay takes its part. */
const MAX_STALL_MS = scaled(150);

export async function run(scenario: Scenario, { outageMs, deadline }: RunOptions): Promise<Result> {
  const system = await scenario.open();
  // Enough that no key is used up before the end: the load makes some 600 calls a second for each.
  const limit = 1000 + Math.ceil(outageMs * 1.5);
  const { stores } = system;
  const load = new Load({
    stores,
    keys: KEYS,
    limit,
    callers: CALLERS,
    deadline,
    name: `run-${process.pid}-${performance.now()}`,
  });
  try {
    load.start();
    await Promise.all([load.allAnswered(), sleep(STEADY_MS)]);
    const before = memory();
    const atStart = load.tally.map(({ admitted }) => admitted);
    let atFault = atStart;
    const injecting = Promise.resolve(system.injectFault()).then(() => {
      atFault = load.tally.map(({ admitted }) => admitted);
    });
    const begunBefore = load.calls;
    await sleep(outageMs / 2);
    const during = memory();
    await Promise.all([sleep(outageMs / 2), load.until(() => load.calls >= begunBefore + CALLERS)]);
    await injecting;
    await system.recover();
    const recovered = performance.now();
    const answered = load.allAnswered();
    const atRecovery = load.tally.map(({ admitted }) => admitted);
    await Promise.race([
      answered,
      sleep(RECOVERY_LIMIT_MS, undefined, { ref: false }).then(() => {
        throw new Error(`${scenario.store}, ${scenario.fault}: not back within ${RECOVERY_LIMIT_MS} ms`);
      }),
    ]);
    const recovery = performance.now() - recovered;
    await sleep(STEADY_MS);
    await load.stop();
    await load.exhaust();
    const over = (tally: KeyTally) => Math.max(0, tally.admitted - limit);
    const forgotten = (key: number) => {
      switch (scenario.forgets) {
        case "before the fault":
          return atFault[key]!;
        case "before the recovery":
          return atRecovery[key]!;
        case "during the fault":
          return atFault[key]! - atStart[key]!;
        default:
          return 0;
      }
    };
    const { tally } = load;
    const sum = (of: (tally: KeyTally, key: number) => number) =>
      tally.reduce((total, one, key) => total + of(one, key), 0);
    return {
      scenario,
      calls: load.calls,
      failed: load.failed,
      errors: load.errors,
      late: load.late,
      slowest: load.slowest,
      stall: load.stall,
      over: sum(over),
      under: sum(({ admitted }) => Math.max(0, limit - admitted)),
      // Calls whose answer was on its way at the moment of the books are not in them.
      mostOver:
        sum((_, key) => forgotten(key)) +
        (scenario.forgets === undefined ? 0 : CALLERS) +
        KEYS * (scenario.overlap ?? 0),
      mostUnder: load.unknown,
      before,
      during,
      after: memory(),
      recovery,
    };
  } finally {
    await load.stop();
    await Promise.allSettled(stores.map((store) => store.close()));
    await system.stop();
  }
}

/** What a result says against the promise; empty when it holds. */
export function faults(result: Result): string[] {
  const { scenario, over, under, mostOver, mostUnder, late, failed, before, during, after } = result;
  const found: string[] = [];
  if (late > 0)
    found.push(`${late} calls ended after their deadline, the slowest after ${result.slowest} ms`);
  if (over > mostOver)
    found.push(`${over} calls were admitted over the limit; ${mostOver} are promised at most`);
  if (under > mostUnder)
    found.push(`${under} calls were refused under the limit; ${mostUnder} are promised at most`);
  // A process that stands still for as long as the store's time-out cannot have its answers in time.
  if (scenario.unnoticed && failed > 0 && result.stall < MAX_STALL_MS)
    found.push(`${failed} calls failed (${result.errors})`);
  const most = before + 32 * 1024 * 1024;
  if (during > most || after > most) found.push(`memory grew from ${before} to ${during} and ${after} bytes`);
  return found;
}

export function printTable(results: readonly Result[]): string {
  const mib = (bytes: number) => (bytes / 1024 / 1024).toFixed(1);
  const rows = results.map((r) => {
    const share = (100 * (r.calls - r.late)) / r.calls;
    return [
      `${r.scenario.store}: ${r.scenario.fault}`,
      r.calls,
      `${share === 100 ? 100 : share.toFixed(2)} %`,
      r.failed,
      `${r.over} (${r.mostOver})`,
      `${r.under} (${r.mostUnder})`,
      `${mib(r.before)} / ${mib(r.during)} / ${mib(r.after)}`,
      `${Math.round(r.recovery)} ms`,
    ].join(" | ");
  });
  return [
    "| store: fault | calls | ended within their deadline | of them without an answer | admitted over the limit (bound) | refused under it (bound) | MiB before / during / after | recovery |",
    "|---|---|---|---|---|---|---|---|",
    ...rows.map((row) => `| ${row} |`),
  ].join("\n");
}
