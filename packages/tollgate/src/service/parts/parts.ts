import type { EmbeddedStore } from "../../counters/embedded/embedded-store.ts";
import type { Invalidations } from "../../counters/invalidations.ts";
import type { ReplicaChannel } from "../../counters/replica-channel.ts";
import type { CounterStore } from "../../counters/store.ts";
import { createHealth, type Health } from "../../observe/health.ts";
import { createLogger, type Logger } from "../../observe/log.ts";
import { createStatistics, type Registry } from "../../observe/registry.ts";
import type { Tracing } from "../../observe/tracing/tracing.ts";
import type { AdjustmentRecord } from "../../overrides/record.ts";
import type { LoadedSettings } from "../../settings/load-settings.ts";
import type { Environment } from "../../settings/read-values.ts";
import type { Settings } from "../../settings/settings.ts";
import { Components } from "../components.ts";
import { divideSettings } from "../divide.ts";
import { type Insight, openInsight } from "../insight.ts";
import { withMaskSalt } from "../observer.ts";
import { countsHere, openEmbedded, openInvalidations, openStore } from "../open-stores.ts";
import { openTracing, withInstanceId } from "../open-tracing.ts";
import type { OverridesFollower } from "../overrides-follower.ts";
import { openReplicaState, type ReplicaState } from "../replica-state.ts";
import type { RequiredStore } from "../store-gate.ts";
import { trustSystemAuthorities } from "../system-authorities.ts";
import { threadsFor } from "../threads/grpc.ts";
import { MergedStatistics } from "../threads/merged-statistics.ts";

/** Functions of later parts that earlier parts call. */
interface Links {
  /** Gives overrides to the threads. */
  setOverrides: (records: readonly AdjustmentRecord[]) => Promise<void>;
}

/** The parts that are built before any port opens. */
export interface Parts {
  readonly settings: Settings;
  readonly environment: Environment;
  /** Threads that serve gRPC; 1 for this one only. */
  readonly threads: number;
  readonly log: Logger;
  readonly registry: Registry;
  readonly statistics: MergedStatistics;
  readonly health: Health;
  readonly components: Components;
  readonly tracing: Tracing;
  readonly insight: Insight;
  readonly embedded: EmbeddedStore | undefined;
  readonly invalidations: Invalidations | undefined;
  readonly replicas: ReplicaChannel | undefined;
  readonly overrides: OverridesFollower | undefined;
  readonly shared: ReplicaState;
  readonly links: Links;
  readonly store: CounterStore;
  /** The store without the over-limit cache. */
  readonly backend: CounterStore;
  /** The store without its failure policy. */
  readonly bare: CounterStore;
  /** Remote stores that must answer before the ports open. */
  readonly required: readonly RequiredStore[];
}

/** Opens statistics and health first, because the later parts report to them, and then the store. */
export async function openParts(
  { settings, warnings, infos }: LoadedSettings,
  environment: Environment,
): Promise<Parts> {
  const log = createLogger({ level: settings.logs.level, format: settings.logs.format });
  for (const line of warnings) log.warn(line);
  for (const line of infos) log.info(line);
  const registry = createStatistics({
    tags: Object.fromEntries(settings.stats.extraTags),
    maxDynamicKeys: settings.stats.maxDynamicKeys,
    kvstoreName: settings.kvstore?.statisticsName ?? "kvstore",
    objcacheName: settings.objcache?.statisticsName ?? "objcache",
  });
  const statistics = new MergedStatistics(registry);
  const health = createHealth(log);
  const components = new Components(health);
  const threads = threadsFor(settings, log);
  const parts = threads === 1 ? 1 : threads + 1;
  const embedded = countsHere(settings) ? await openEmbedded(settings, registry, log) : undefined;
  const createReporter = (name: string) => components.createReporter(name);
  await trustSystemAuthorities(settings);
  const tracing = await openTracing(settings, log);
  const insight = await openInsight(settings, statistics, log, parts);
  const invalidations = openInvalidations(settings);
  // The threads start later than the store and its overrides.
  const links: Links = { setOverrides: async () => {} };
  let shared: ReplicaState | undefined;
  const opened = await openStore(divideSettings(settings, parts), {
    statistics,
    log,
    tracing,
    parts,
    embedded,
    invalidations,
    onLowered: (stem) => shared?.replicas?.lowered(stem),
    createReporter,
  });
  const setOverrides: Links["setOverrides"] = (records) => links.setOverrides(records);
  shared = await openReplicaState({ settings, opened, invalidations, statistics, log, setOverrides });
  return {
    settings,
    environment: withMaskSalt(withInstanceId(environment, settings), settings),
    threads,
    log,
    registry,
    statistics,
    health,
    components,
    tracing,
    insight,
    embedded,
    invalidations,
    replicas: shared.replicas,
    overrides: shared.overrides,
    shared,
    links,
    ...opened,
  };
}
