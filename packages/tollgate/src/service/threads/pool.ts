import type { EmbeddedStore } from "../../counters/embedded/embedded-store.ts";
import type { Invalidations } from "../../counters/invalidations.ts";
import type { ReplicaChannel } from "../../counters/replica-channel.ts";
import type { Certificates } from "../../listeners/server-tls.ts";
import type { DecisionLog } from "../../observe/decision-log/decision-log.ts";
import type { Health } from "../../observe/health.ts";
import type { Level, Logger } from "../../observe/log.ts";
import type { StackSample } from "../../observe/profiling/call-tree.ts";
import type { SampledKind } from "../../observe/profiling/profiler.ts";
import type { CountedRule } from "../../observe/top-keys/thread-top-keys.ts";
import type { AdjustmentRecord } from "../../overrides/record.ts";
import type { CompiledRules } from "../../rules/compiled-rules.ts";
import type { Environment } from "../../settings/read-values.ts";
import type { Components } from "../components.ts";
import { Balancer } from "./balance.ts";
import type { MergedStatistics } from "./merged-statistics.ts";
import { PoolThread, type ThreadState } from "./pool-thread.ts";
import { probePort } from "./probe-port.ts";
import type { FromThread, ThreadStart, ToThread } from "./thread-messages.ts";

export interface ThreadPoolOptions {
  readonly threads: number;
  readonly host: string;
  /** 0 for any. */
  readonly port: number;
  readonly environment: Environment;
  readonly embedded: EmbeddedStore | undefined;
  readonly invalidations: Invalidations | undefined;
  readonly rules: CompiledRules | undefined;
  readonly overrides: readonly AdjustmentRecord[];
  readonly certificates: Certificates | undefined;
  readonly replicas: ReplicaChannel | undefined;
  readonly health: Health;
  readonly components: Components;
  readonly statistics: MergedStatistics;
  readonly decisions: DecisionLog;
  readonly log: Logger;
}

/** Milliseconds that a read of the statistics waits for the figures of a thread. */
const COLLECT_TIMEOUT = 2000;
/** Threads that may end within a minute and be replaced. The process exits after more. */
const MOST_ENDS = 10;
const MINUTE = 60_000;
/** Milliseconds between two looks at the connections of the threads. */
const BALANCE_INTERVAL = 1000;

/**
 * Threads that serve gRPC on one port, each with its own listener: the kernel distributes connections (SO_REUSEPORT).
 * Replaces threads that die, and merges the statistics of all threads in the main thread.
 */
export class ThreadPool {
  readonly #options: ThreadPoolOptions;
  readonly #running = new Set<PoolThread>();
  #rules: CompiledRules | undefined;
  #overrides: readonly AdjustmentRecord[];
  #certificates: Certificates | undefined;
  #level: Level;
  #port: number;
  #address = "";
  #threads = 0;
  #requests = 0;
  #closing = false;
  #ends: number[] = [];
  readonly #balancer = new Balancer();
  #balancing: NodeJS.Timeout | undefined;
  #shown = "";
  readonly #unsubscribe: () => void;

  private constructor(options: ThreadPoolOptions) {
    this.#options = options;
    this.#rules = options.rules;
    this.#overrides = options.overrides;
    this.#certificates = options.certificates;
    this.#level = options.log.level;
    this.#port = options.port;
    this.#unsubscribe = options.health.subscribe((healthy) => this.#sendAll({ kind: "health", healthy }));
  }

  /** Starts the first thread, and then the others. Rejects if the port cannot be bound, also if another process uses it with SO_REUSEPORT. */
  static async open(options: ThreadPoolOptions): Promise<ThreadPool> {
    // With SO_REUSEPORT two processes would silently share the port, and each would count embedded limits on its own. A
    // bind without the option fails in this case.
    if (options.port !== 0) await probePort(options.host, options.port);
    const pool = new ThreadPool(options);
    try {
      // The first thread may choose any port; the others use the same one.
      await pool.#start();
    } catch (error) {
      await pool.close(0);
      throw error;
    }
    pool.#startOthers().catch((error: unknown) => {
      if (!pool.#closing) options.log.error(`cannot start a thread: ${String(error)}`);
    });
    return pool;
  }

  /**
   * Starts the other threads one after the other, while the first one serves: together they would occupy all cores. Then
   * spreads the connections, which the first thread has accepted so far.
   */
  async #startOthers(): Promise<void> {
    for (let thread = 1; thread < this.#options.threads && !this.#closing; thread++) await this.#start();
    if (this.#closing) return;
    this.#balancing = setInterval(() => void this.#balance(), BALANCE_INTERVAL);
    this.#balancing.unref();
  }

  async #balance(): Promise<void> {
    const threads = [...this.#running];
    // A thread that replaces another one is not ready yet.
    if (!threads.every(({ listening }) => listening)) return;
    const answers = await this.#requestAll((number) => ({ kind: "connections", number }), COLLECT_TIMEOUT);
    const counts = answers.map((answer) => (answer?.kind === "connections" ? answer.connections : undefined));
    if (!counts.every((count) => count !== undefined) || this.#closing) return;
    threads.forEach((thread, index) => {
      thread.connections = counts[index]!;
    });
    const shown = counts.join(", ");
    if (shown !== this.#shown) this.#options.log.debug(`gRPC connections of the threads: ${shown}`);
    this.#shown = shown;
    const release = this.#balancer.check(counts);
    if (release === undefined) return;
    const message: ToThread = { kind: "release", connections: release.connections };
    threads[release.thread]!.worker.postMessage(message);
  }

  get address(): string {
    return this.#address;
  }

  setRules(rules: CompiledRules): void {
    this.#rules = rules;
    this.#sendAll({ kind: "rules", rules });
  }

  /** Resolves when all threads use them, but after two seconds at the latest. */
  async setOverrides(records: readonly AdjustmentRecord[]): Promise<void> {
    this.#overrides = records;
    // A thread that is about to start reads the message when it is ready.
    for (const { listening, worker } of this.#running)
      if (!listening) worker.postMessage({ kind: "overrides", number: 0, records } satisfies ToThread);
    await this.#requestAll((number) => ({ kind: "overrides", number, records }), COLLECT_TIMEOUT);
  }

  setLevel(level: Level): void {
    this.#level = level;
    this.#sendAll({ kind: "level", level });
  }

  setRecording(active: boolean): void {
    this.#sendAll({ kind: "record", active });
  }

  replaceCertificates(certificates: Certificates): void {
    this.#certificates = certificates;
    this.#sendAll({ kind: "certificates", certificates });
  }

  /** Updates the statistics to include every call that was answered before. */
  async collect(): Promise<void> {
    await this.#requestAll((number) => ({ kind: "collect", number }), COLLECT_TIMEOUT);
  }

  threads(): readonly ThreadState[] {
    return Array.from(this.#running, (thread) => thread.state());
  }

  /** Profile samples of all threads. */
  async sample(profile: SampledKind, seconds: number): Promise<readonly StackSample[]> {
    const answers = await this.#requestAll(
      (number) => ({ kind: "profile", number, profile, seconds }),
      seconds * 1000 + COLLECT_TIMEOUT,
    );
    return answers.flatMap((answer) => (answer?.kind === "samples" ? answer.samples : []));
  }

  /** The keys that all threads have counted. */
  async topKeys(most: number, rule: string | undefined): Promise<readonly CountedRule[]> {
    const answers = await this.#requestAll(
      (number) => ({ kind: "topKeys", number, most, rule }),
      COLLECT_TIMEOUT,
    );
    return answers.flatMap((answer) => (answer?.kind === "topKeys" ? answer.rules : []));
  }

  #requestAll(message: (number: number) => ToThread, timeout: number): Promise<(FromThread | undefined)[]> {
    const number = ++this.#requests;
    const threads = [...this.#running].filter(({ listening }) => listening);
    return Promise.all(threads.map((thread) => thread.request(number, message(number), timeout)));
  }

  /** Drains every thread, and terminates those that are not done after `timeout` milliseconds. */
  async close(timeout: number): Promise<void> {
    this.#closing = true;
    clearInterval(this.#balancing);
    this.#unsubscribe();
    const ends = [...this.#running].map(
      ({ worker }) => new Promise((resolve) => worker.once("exit", resolve)),
    );
    this.#sendAll({ kind: "drain", timeout });
    // A timer with a longer delay fires at once.
    const longest = 2 ** 31 - 1;
    const timer = setTimeout(
      () => {
        for (const { worker } of this.#running) void worker.terminate();
      },
      Math.min(timeout + 1000, longest),
    );
    await Promise.all(ends);
    clearTimeout(timer);
  }

  #sendAll(message: ToThread): void {
    for (const { worker } of this.#running) worker.postMessage(message);
  }

  #start(): Promise<void> {
    const { decisions, embedded, environment, health, invalidations, threads } = this.#options;
    const start: ThreadStart = {
      environment,
      embedded: embedded?.share(),
      invalidations: invalidations?.buffer,
      parts: threads + 1,
      port: this.#port,
      level: this.#level,
      healthy: health.healthy,
      recordsDecisions: decisions.needed,
      rules: this.#rules,
      overrides: this.#overrides,
      certificates: this.#certificates,
    };
    const thread = new PoolThread(++this.#threads, start);
    const { worker } = thread;
    this.#running.add(thread);
    return new Promise((resolve, reject) => {
      worker.on("message", (message: FromThread) => {
        if (message.kind === "listening") {
          this.#port = message.port;
          this.#address = message.address;
          thread.listening = true;
          resolve();
        } else if (message.kind === "failed") reject(new Error(message.message));
        else this.#receive(thread, message);
      });
      worker.on("error", (error) => {
        this.#options.log.error(
          `a thread failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        );
        reject(error);
      });
      worker.on("exit", () => {
        reject(new Error("a thread ended during its start"));
        this.#ended(thread);
      });
    });
  }

  #receive(thread: PoolThread, message: FromThread): void {
    const { statistics } = this.#options;
    if (message.kind === "statistics") {
      statistics.add(thread.number, message.figures);
      thread.answer(message.number, message);
    } else if (["samples", "connections", "topKeys", "applied"].includes(message.kind) && "number" in message)
      thread.answer(message.number, message);
    else if (message.kind === "durations") statistics.addDurations(message.timer, message.durations);
    else if (message.kind === "decisions") {
      const taken: ToThread = { kind: "decisionsTaken", size: message.batch.size };
      thread.worker.postMessage(taken);
      this.#options.decisions.receive(message.batch);
    } else if (message.kind === "component") {
      const { name, fault } = message;
      thread.report(name, fault, () => this.#options.components.createReporter(name));
    } else if (message.kind === "lowered") this.#options.replicas?.loweredSlots(message.slots);
    else if (message.kind === "drained") {
      thread.drained = true;
      statistics.add(thread.number, message.figures);
    }
  }

  #ended(thread: PoolThread): void {
    this.#running.delete(thread);
    thread.end();
    this.#options.statistics.forget(thread.number);
    if (thread.share !== undefined) this.#options.embedded?.workerExited(thread.share);
    if (this.#closing || thread.drained || this.#address === "") return;
    const now = performance.now();
    this.#ends = [...this.#ends.filter((at) => at > now - MINUTE), now];
    const { log } = this.#options;
    if (this.#ends.length > MOST_ENDS) {
      log.fatal(`${MOST_ENDS} threads ended within a minute: shutting down`);
      process.exitCode = 1;
      process.kill(process.pid, "SIGTERM");
      return;
    }
    log.error(`thread ${thread.number} ended unexpectedly: starting another one`);
    this.#start().catch((error: unknown) => log.error(`cannot start a thread: ${String(error)}`));
  }
}
