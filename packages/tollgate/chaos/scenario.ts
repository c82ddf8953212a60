import { setTimeout as sleep } from "node:timers/promises";
import { scaled } from "../../../tools/time-scale.ts";
import type { AlgorithmName } from "../src/counters/algorithms/algorithm.ts";
import type { CounterStore } from "../src/counters/store.ts";
import { type KeyTally, Load, memory } from "./load-generator.ts";

/** A store under test, with its fault. */
export interface System {
  /** Two stores, like two processes of a fleet. */
  readonly stores: readonly CounterStore[];
  /** Injects the fault. The load continues meanwhile. */
  injectFault(): Promise<void> | void;
  /** Removes the fault. */
  recover(): Promise<void> | void;
  /** Stops the servers. */
  stop(): Promise<void>;
}

export interface Scenario {
  readonly store: string;
  readonly fault: string;
  open(): Promise<System>;
  /**
   * Hits that the store may lose: those admitted before the fault, before the recovery, or during the injection of the
   * fault. Default: none.
   */
  readonly forgets?: "before the fault" | "before the recovery" | "during the fault";
  /** Hits over the limit of processes that do not wait for their increments. Default 0. */
  readonly overlap?: number;
  /** The algorithms that the store supports. The keys have them in turn. Default: all. */
  readonly algorithms?: readonly AlgorithmName[];
  /** Whether all calls must succeed. */
  readonly unnoticed?: boolean;
}

export interface Result {
  readonly scenario: Scenario;
  readonly calls: number;
  readonly failed: number;
  readonly errors: string;
  readonly late: number;
  readonly slowest: number;
  /** The longest pause of this process, in milliseconds. */
  readonly stall: number;
  /** Calls admitted above the limit, and calls refused below it, over all keys. */
  readonly over: number;
  readonly under: number;
  /** The guaranteed bounds. */
  readonly mostOver: number;
  readonly mostUnder: number;
  /** Bytes. */
  readonly before: number;
  readonly during: number;
  readonly after: number;
  /** Milliseconds from the recovery until every key had an answer. */
  readonly recovery: number;
}

export interface RunOptions {
  /** Duration of the fault in milliseconds. */
  readonly outageMs: number;
  readonly deadline: number;
  /** Milliseconds between two calls of a caller. */
  readonly pause: number;
}

const STEADY_MS = scaled(150);
/** All of a run but the outage. A longer recovery is correct, too: keys may reach their limits before the end. */
const REST_MS = scaled(1500);
const KEYS = 16;
const CALLERS = 24;
const RECOVERY_LIMIT_MS = scaled(20_000);
/** Well below the stores' timeout, which also includes a proxy's delay. */
const MAX_STALL_MS = scaled(150);

export async function run(scenario: Scenario, { outageMs, deadline, pause }: RunOptions): Promise<Result> {
  const system = await scenario.open();
  // High enough that no key reaches it before the end. Each key gets its share of the calls, more or less.
  const limit = 100 + Math.ceil(((CALLERS / KEYS) * (outageMs + REST_MS)) / pause);
  const { stores } = system;
  const load = new Load({
    stores,
    keys: KEYS,
    limit,
    callers: CALLERS,
    deadline,
    pause,
    name: `run-${process.pid}-${performance.now()}`,
    algorithms: scenario.algorithms ?? ["fixed_window", "accepted_window", "sliding_window", "token_bucket"],
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
        throw new Error(`${scenario.store}, ${scenario.fault}: no recovery within ${RECOVERY_LIMIT_MS} ms`);
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
      // The records do not include calls in progress.
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

/** The violated guarantees of a result. */
export function faults(result: Result): string[] {
  const { scenario, over, under, mostOver, mostUnder, late, failed, before, during, after } = result;
  const found: string[] = [];
  if (late > 0)
    found.push(`${late} calls ended after their deadline, the slowest after ${result.slowest} ms`);
  if (over > mostOver) found.push(`${over} calls were admitted over the limit; the bound is ${mostOver}`);
  if (under > mostUnder) found.push(`${under} calls were refused under the limit; the bound is ${mostUnder}`);
  // If this process pauses for the store's timeout, its answers are late.
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
