/** State besides counters that this process shares with other replicas: overrides, messages about lowered counters. */
import type { CounterAdmin } from "../counters/counter-admin.ts";
import type { Invalidations } from "../counters/invalidations.ts";
import { ReplicaChannel } from "../counters/replica-channel.ts";
import type { Logger } from "../observe/log.ts";
import type { Statistics } from "../observe/statistics.ts";
import type { AdjustmentRecord } from "../overrides/record.ts";
import type { Settings } from "../settings/settings.ts";
import type { OpenedStore } from "./open-stores.ts";
import { OVERRIDES_POLL, OverridesFollower } from "./overrides-follower.ts";

export interface ReplicaStateOptions {
  readonly settings: Settings;
  readonly opened: Pick<OpenedStore, "openAdmin" | "openChannel">;
  readonly invalidations: Invalidations | undefined;
  readonly statistics: Statistics;
  readonly log: Logger;
  /** Gives overrides to the other threads. Resolves when they use them. */
  readonly setOverrides: (records: readonly AdjustmentRecord[]) => Promise<void>;
}

export interface ReplicaState {
  /** Undefined if the admin API is off, and nothing else needs it. */
  readonly counterAdmin: CounterAdmin | undefined;
  /** Undefined if no other process shares the counters, or there is nothing to tell. */
  readonly replicas: ReplicaChannel | undefined;
  /** Undefined if the store keeps no overrides, or they are off. */
  readonly overrides: OverridesFollower | undefined;
  /** Drops the over-limit entries of these stems in all threads. Resolves when the other replicas were told. */
  invalidate(stems: readonly string[]): Promise<void>;
  /** Uses overrides that this process has written to the store. */
  useOverrides(version: number, records: readonly AdjustmentRecord[]): Promise<void>;
  close(): Promise<void>;
}

export async function openReplicaState(options: ReplicaStateOptions): Promise<ReplicaState> {
  const { settings, opened, invalidations, statistics, log, setOverrides } = options;
  const isEmbedded = settings.store.backend === "embedded";
  const follows = isEmbedded || (settings.kvstore !== undefined && settings.store.overridesEnabled);
  const counterAdmin = settings.admin !== undefined || follows ? await opened.openAdmin() : undefined;
  const records = counterAdmin?.records;
  const overrides =
    follows && records !== undefined
      ? new OverridesFollower({ records, poll: isEmbedded ? 0 : OVERRIDES_POLL, log, onChange: setOverrides })
      : undefined;
  const replicas =
    isEmbedded || (invalidations === undefined && overrides === undefined)
      ? undefined
      : new ReplicaChannel({
          invalidations,
          open: opened.openChannel,
          why: "memcached has no channel between replicas",
          revalidate: settings.store.localCacheRevalidate,
          log,
          onOverrides: () => void overrides?.check(),
        });
  if (replicas !== undefined && opened.openChannel !== undefined)
    statistics.gauge("ratelimit.replicas.subscribed", () => (replicas.live ? 1 : 0));
  return {
    counterAdmin,
    replicas,
    overrides,
    async invalidate(stems) {
      for (const stem of stems) {
        invalidations?.invalidate(stem);
        replicas?.lowered(stem);
      }
      await replicas?.told();
    },
    async useOverrides(version, written) {
      await overrides?.use(version, written);
      replicas?.overridesChanged();
      await replicas?.told();
    },
    async close() {
      overrides?.close();
      replicas?.close();
      await counterAdmin?.close();
    },
  };
}
