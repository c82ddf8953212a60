import { EmbeddedStore } from "../counters/embedded/embedded-store.ts";
import type { CounterStore } from "../counters/store.ts";
import type { Health } from "../observe/health.ts";
import type { Logger } from "../observe/log.ts";
import type { Statistics } from "../observe/statistics.ts";
import type { Settings } from "../settings/settings.ts";

export interface StoreSurroundings {
  readonly statistics: Statistics;
  readonly health: Health;
  readonly log: Logger;
}

/** A store with what stands in front of it. */
export interface OpenedStore {
  readonly store: CounterStore;
  close(): Promise<void>;
}

/** The store that the settings ask for, with its gauges. */
export async function openStore(settings: Settings, _surroundings: StoreSurroundings): Promise<OpenedStore> {
  const store = EmbeddedStore.create({ sizeInBytes: settings.embedded.sizeInBytes });
  return { store, close: () => store.close() };
}
