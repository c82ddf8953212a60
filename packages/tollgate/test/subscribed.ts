import { until } from "./counters/kvstore-support.ts";
import type { RunningTollgate } from "./tollgate.ts";

/**
 * Waits until replicas with over-limit caches and a key-value store hear each other. Each drops all entries of its cache
 * at that moment, which may be after its first calls.
 */
export async function subscribed(...replicas: readonly RunningTollgate[]): Promise<void> {
  for (const { debug } of replicas)
    await until("the replica is subscribed", async () => {
      const stats = await fetch(`http://${debug}/stats?filter=replicas.subscribed`);
      return (await stats.text()).includes("subscribed: 1");
    });
}
