import type { LineWriter } from "../descriptor-writer.ts";
import type { Logger } from "../log.ts";
import type { Registry } from "../registry.ts";
import { watchRuntime } from "../runtime.ts";
import { createAgentSink } from "./agent.ts";
import { Flusher } from "./flusher.ts";
import type { MogrifierOptions } from "./mogrifier.ts";
import { createOutputSink } from "./output.ts";
import type { PullServer } from "./pull/metrics-listener.ts";
import type { PullSettings } from "./pull/open-pull.ts";
import { createPushSink } from "./push.ts";
import type { Sink } from "./sink.ts";

/** The configured sinks. Empty with `DISABLE_STATS`. */
export interface SinksOptions {
  /** `STATS_FLUSH_INTERVAL`, in milliseconds. */
  readonly flushInterval: number;
  /** `USE_PUSHSTATS`, `PUSHSTATS_*`. */
  readonly push?: { readonly protocol: "tcp" | "udp" | "unix"; readonly host: string; readonly port: number };
  /** `USE_AGENTSTATS`, `AGENTSTATS_*`. */
  readonly agent?: {
    readonly host: string;
    readonly port: number;
    readonly mogrifiers: readonly MogrifierOptions[];
  };
  /** `USE_PULLSTATS`, `PULLSTATS_*`. */
  readonly pull?: PullSettings;
  /** Lines on standard output, for `USE_PUSHSTATS=false` and no other sink. Tests pass a writer. */
  readonly output?: true | LineWriter;
}

export interface RunningSinks {
  /** The bound address of the metrics port; undefined without the pull sink. */
  readonly pullAddress: string | undefined;
  /** Flushes the last interval and closes all sinks, within `milliseconds`. */
  stop(milliseconds: number): Promise<void>;
}

/**
 * Opens the sinks. Watches the process, its event loop and its garbage collection only if there is a sink.
 * @throws {SinkConfigError} for an invalid setting; a system error if the metrics port cannot be bound
 */
export async function startSinks(
  registry: Registry,
  log: Logger,
  options: SinksOptions,
): Promise<RunningSinks> {
  const dropped = (sink: string) => registry.counter(`ratelimit.statistics.${sink}.dropped`);
  // Loaded on demand, with the parser of the mapper file.
  const preparePull =
    options.pull && (await import("./pull/open-pull.ts")).preparePull(registry, options.pull);
  const sinks: Sink[] = [];
  if (options.push !== undefined)
    sinks.push(createPushSink(registry, { ...options.push, log, dropped: dropped("push") }));
  if (options.agent !== undefined)
    sinks.push(createAgentSink(registry, { ...options.agent, log, dropped: dropped("agent") }));
  if (options.output !== undefined)
    sinks.push(
      createOutputSink(registry, {
        dropped: dropped("output"),
        ...(options.output === true ? {} : { writer: options.output }),
      }),
    );
  const watched = sinks.length > 0 || options.pull !== undefined;
  const unwatch = watched ? watchRuntime(registry) : () => {};
  const flushers = sinks.map((sink) => new Flusher(registry, sink, { interval: options.flushInterval, log }));
  let pull: PullServer | undefined;
  try {
    pull = await preparePull?.(log, dropped("pull"));
  } catch (error) {
    unwatch();
    await Promise.all(sinks.map((sink) => sink.close(0)));
    throw error;
  }
  for (const flusher of flushers) flusher.start();
  return {
    pullAddress: pull?.address,
    stop: async (milliseconds) => {
      await Promise.all([...flushers.map((flusher) => flusher.stop(milliseconds)), pull?.close()]);
      unwatch();
    },
  };
}
