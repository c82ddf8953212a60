/** A thread that serves gRPC. The pool starts it with a {@link ThreadStart}; it exits after a drain. */
import { parentPort, workerData } from "node:worker_threads";
import { EmbeddedStore } from "../../counters/embedded/embedded-store.ts";
import { Invalidations, slotOf } from "../../counters/invalidations.ts";
import { openGrpcListener } from "../../listeners/grpc-listener.ts";
import { createHealth } from "../../observe/health.ts";
import { createLogger, logWarnings } from "../../observe/log.ts";
import { HeldOverrides } from "../../overrides/holder.ts";
import { installRules } from "../../rules/install-rules.ts";
import { loadSettings } from "../../settings/load-settings.ts";
import { createRateLimitHandler, createReservationHandler } from "../create-handler.ts";
import { divideSettings } from "../divide.ts";
import { observeDecisions } from "../observer.ts";
import { openStore } from "../open-stores.ts";
import { openTracing } from "../open-tracing.ts";
import { grpcListenerOptions } from "../settings-to-options.ts";
import { trustSystemAuthorities } from "../system-authorities.ts";
import type { FromThread, ThreadStart, ToThread } from "./thread-messages.ts";
import { ThreadStatistics } from "./thread-statistics.ts";

const start = workerData as ThreadStart;
const main = parentPort!;

function send(message: FromThread, transfer: ArrayBuffer[] = []): void {
  main.postMessage(message, transfer);
}

/** Collects the slots of a turn of the event loop for one message. */
function sendLowered(): (stem: string) => void {
  let slots = new Set<number>();
  return (stem) => {
    if (slots.size === 0)
      setImmediate(() => {
        send({ kind: "lowered", slots: [...slots] });
        slots = new Set();
      });
    slots.add(slotOf(stem));
  };
}

async function serve(): Promise<void> {
  const settings = divideSettings(loadSettings(start.environment).settings, start.parts);
  const log = createLogger({ level: start.level, format: settings.logs.format });
  logWarnings(log);
  const statistics = new ThreadStatistics(settings.stats.maxDynamicKeys, (timer, durations) =>
    send({ kind: "durations", timer, durations }),
  );
  await trustSystemAuthorities(settings);
  // The main thread decides the health. This one only serves it.
  const tracing = await openTracing(settings, log);
  const health = createHealth(createLogger({ level: "panic" }));
  const overall = health.component("service", start.healthy ? undefined : "the service is not healthy");
  const embedded = start.embedded && EmbeddedStore.attach(start.embedded);
  const createReporter = (name: string) => (fault: string | undefined) =>
    send({ kind: "component", name, fault });
  const { store } = await openStore(settings, {
    statistics,
    log,
    tracing,
    parts: start.parts,
    embedded,
    invalidations: start.invalidations && new Invalidations(start.invalidations),
    onLowered: sendLowered(),
    createReporter,
  });
  let newest = start.rules;
  let rules = start.rules && (await installRules(start.rules));
  const overrides = new HeldOverrides(start.overrides);
  const { observer, topKeys, recorder, outbox } = observeDecisions(
    settings,
    statistics,
    start.parts,
    (batch) => send({ kind: "decisions", batch }),
  );
  recorder.active = start.recordsDecisions;
  const handler = createRateLimitHandler(settings, store, () => rules, statistics, log, {
    observer,
    overrides,
  });
  const listener = await openGrpcListener({
    ...grpcListenerOptions(settings, start.parts - 1),
    certificates: start.certificates,
    where: { host: settings.grpc.host, port: start.port, reusePort: true },
    handler,
    reservations: createReservationHandler(settings, store, () => rules, statistics, overrides),
    tracing,
    health,
    statistics,
    log,
  });
  const handlers: { [Kind in ToThread["kind"]]: (message: Extract<ToThread, { kind: Kind }>) => void } = {
    rules: (message) => {
      newest = message.rules;
      void installRules(message.rules).then((installed) => {
        if (newest === message.rules) rules = installed;
      });
    },
    overrides: ({ number, records }) => {
      overrides.use(records);
      send({ kind: "applied", number });
    },
    health: ({ healthy }) => (healthy ? overall.heal() : overall.fail("the service is not healthy")),
    level: ({ level }) => log.setLevel(level),
    certificates: ({ certificates }) => listener.replaceCertificates(certificates),
    collect: ({ number }) => send({ kind: "statistics", number, figures: statistics.take() }),
    record: ({ active }) => {
      recorder.active = active;
    },
    decisionsTaken: ({ size }) => outbox.taken(size),
    topKeys: ({ number, most, rule }) =>
      send({ kind: "topKeys", number, rules: topKeys?.read(Date.now(), most, rule) ?? [] }),
    connections: ({ number }) => send({ kind: "connections", number, connections: listener.connections }),
    release: ({ connections }) => listener.release(connections),
    profile: (message) => void profile(message),
    drain: ({ timeout }) => void drain(timeout),
  };
  main.on("message", (message: ToThread) => {
    try {
      (handlers[message.kind] as (message: ToThread) => void)(message);
    } catch (error) {
      // An error here would end the thread with all calls in flight.
      log.error(`a thread could not handle the message "${message.kind}": ${String(error)}`);
    }
  });
  send({ kind: "listening", address: listener.address, port: listener.port });

  async function profile(request: Extract<ToThread, { kind: "profile" }>): Promise<void> {
    const { sampleThread } = await import("../../observe/profiling/profiler.ts");
    const samples = await sampleThread(request.profile, request.seconds).catch((error: unknown) => {
      log.error(`cannot profile a thread: ${String(error)}`);
      return [];
    });
    send({ kind: "samples", number: request.number, samples });
  }

  async function drain(timeout: number): Promise<void> {
    await listener.close(timeout);
    await store.close();
    await tracing.close(timeout);
    await log.flush(500);
    outbox.flush();
    send({ kind: "drained", figures: statistics.take() });
    main.close();
  }
}

serve().catch((error: unknown) => {
  send({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
  main.close();
});
