import type { EmbeddedStore } from "../../counters/embedded/embedded-store.ts";
import type { Invalidations } from "../../counters/invalidations.ts";
import type { ReplicaChannel } from "../../counters/replica-channel.ts";
import { openGrpcListener } from "../../listeners/grpc-listener.ts";
import type { RateLimitHandler } from "../../listeners/rate-limit-handler.ts";
import type { ReservationHandler } from "../../listeners/reservation-handler.ts";
import type { Certificates } from "../../listeners/server-tls.ts";
import { TlsFiles } from "../../listeners/tls-files.ts";
import type { DecisionLog } from "../../observe/decision-log/decision-log.ts";
import type { Health } from "../../observe/health.ts";
import type { Level, Logger } from "../../observe/log.ts";
import type { StackSample } from "../../observe/profiling/call-tree.ts";
import type { SampledKind } from "../../observe/profiling/profiler.ts";
import type { CountedRule } from "../../observe/top-keys/thread-top-keys.ts";
import type { Tracing } from "../../observe/tracing/tracing.ts";
import type { AdjustmentRecord } from "../../overrides/record.ts";
import type { CompiledRules } from "../../rules/compiled-rules.ts";
import type { Environment } from "../../settings/read-values.ts";
import type { Settings } from "../../settings/settings.ts";
import type { ActiveRules } from "../active-rules.ts";
import type { Components } from "../components.ts";
import type { OverridesFollower } from "../overrides-follower.ts";
import { grpcListenerOptions } from "../settings-to-options.ts";
import type { MergedStatistics } from "./merged-statistics.ts";
import { ThreadPool } from "./pool.ts";
import type { ThreadState } from "./pool-thread.ts";

/** The gRPC port, served by this thread or by several. */
export interface GrpcService {
  readonly address: string;
  setRules(rules: CompiledRules): void;
  setOverrides(records: readonly AdjustmentRecord[]): Promise<void>;
  setLevel(level: Level): void;
  /** Whether the other threads record decisions. */
  setRecording(active: boolean): void;
  /** Updates the statistics to include every call that was answered before. */
  collect(): Promise<void>;
  /** The threads that serve gRPC, without the main one. */
  threads(): readonly ThreadState[];
  /** Profile samples of the other threads. */
  sample(profile: SampledKind, seconds: number): Promise<readonly StackSample[]>;
  /** Top keys of the other threads. */
  topKeys(most: number, rule: string | undefined): Promise<readonly CountedRule[]>;
  close(timeout: number): Promise<void>;
}

export interface GrpcServiceOptions {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly threads: number;
  readonly handler: RateLimitHandler;
  readonly reservations: ReservationHandler;
  readonly tracing: Tracing;
  readonly embedded: EmbeddedStore | undefined;
  readonly invalidations: Invalidations | undefined;
  readonly replicas: ReplicaChannel | undefined;
  readonly overrides: OverridesFollower | undefined;
  readonly rules: ActiveRules;
  readonly health: Health;
  readonly components: Components;
  readonly statistics: MergedStatistics;
  readonly decisions: DecisionLog;
  readonly log: Logger;
}

/** The number of threads that serve gRPC: 1 if they cannot share a listener (a unix socket, no SO_REUSEPORT). */
export function threadsFor(settings: Settings, log: Logger): number {
  const { workers } = settings.lifecycle;
  if (workers === 1) return 1;
  const sole = settings.grpc.uds !== undefined ? "a unix socket has one listener" : reusePortFault();
  if (sole === undefined) return workers;
  log.info(`gRPC is served by one thread: ${sole}`);
  return 1;
}

/** Node supports the option on these systems only (node:net, `reusePort`). */
function reusePortFault(): string | undefined {
  const able = ["linux", "freebsd", "sunos", "aix"].includes(process.platform);
  return able ? undefined : `${process.platform} does not distribute connections over listeners`;
}

/** Opens the gRPC port. Rejects if the port cannot be bound or its certificates cannot be used. */
export async function openGrpc(options: GrpcServiceOptions): Promise<GrpcService> {
  const files = watchCertificates(options, (certificates) => served.replaceCertificates(certificates));
  let served: ServedGrpc;
  try {
    served = await serve(options, files?.current);
  } catch (error) {
    files?.close();
    throw error;
  }
  return {
    address: served.address,
    setRules: (rules) => served.setRules(rules),
    setOverrides: (records) => served.setOverrides(records),
    setLevel: (level) => served.setLevel(level),
    setRecording: (active) => served.setRecording(active),
    collect: () => served.collect(),
    threads: () => served.threads(),
    sample: (profile, seconds) => served.sample(profile, seconds),
    topKeys: (most, rule) => served.topKeys(most, rule),
    close: (timeout) => {
      files?.close();
      return served.close(timeout);
    },
  };
}

type ServedGrpc = GrpcService & { replaceCertificates(certificates: Certificates): void };

async function serve(
  options: GrpcServiceOptions,
  certificates: Certificates | undefined,
): Promise<ServedGrpc> {
  const { settings, threads, rules, overrides, log } = options;
  const { host, port, uds, udsMode } = settings.grpc;
  if (threads > 1) {
    const drafts = rules.current?.compiled;
    const records = overrides?.records ?? [];
    const given = { host, port, certificates, rules: drafts, overrides: records };
    const pool = await ThreadPool.open({ ...options, ...given });
    log.info(`gRPC is served by ${threads} threads`);
    // The rules may have changed while the threads started.
    if (rules.current !== undefined && rules.current.compiled !== drafts)
      pool.setRules(rules.current.compiled);
    if (overrides !== undefined && overrides.records !== records) await pool.setOverrides(overrides.records);
    return pool;
  }
  const listener = await openGrpcListener({
    ...grpcListenerOptions(settings, 1),
    ...options,
    certificates,
    where:
      uds === undefined ? { host, port } : { path: uds, ...(udsMode !== undefined && { mode: udsMode }) },
  });
  return {
    address: listener.address,
    setRules() {},
    setOverrides: async () => {},
    setLevel() {},
    setRecording() {},
    collect: async () => {},
    threads: () => [],
    sample: async () => [],
    topKeys: async () => [],
    replaceCertificates: (replacement) => listener.replaceCertificates(replacement),
    close: (timeout) => listener.close(timeout),
  };
}

function watchCertificates(
  { settings, log, statistics }: GrpcServiceOptions,
  onChange: (certificates: Certificates) => void,
): TlsFiles | undefined {
  const { tls } = settings.grpc;
  if (tls === undefined) return undefined;
  const paths = { cert: tls.cert, key: tls.key, clientCa: tls.clientCaCert };
  return TlsFiles.open({ paths, log, statistics, onChange });
}
