import type { MetricKey } from "../observe/statistics.ts";
import { nextTurn } from "../observe/yielding.ts";
import type { CompiledRules } from "./compiled-rules.ts";
import { IndexedRuleSet } from "./rule-set.ts";

/** Milliseconds of work in one turn of the event loop. Calls are decided between two turns. */
const TURN_MS = 1;

/**
 * Makes compiled rules ready for lookups. Reads them in place, in short turns of the event loop.
 * @param onMetricKey receives each metric key that does not depend on a request
 */
export async function installRules(
  compiled: CompiledRules,
  onMetricKey?: (key: MetricKey) => void,
): Promise<IndexedRuleSet> {
  const ruleSet = new IndexedRuleSet(compiled);
  await inTurns(ruleSet.steps.prepare(), () => {});
  if (onMetricKey !== undefined) await inTurns(ruleSet.fixedMetricKeys(), onMetricKey);
  return ruleSet;
}

/** Does some work for each item. Yields to other work after each millisecond. */
export async function inTurns<Item>(items: Iterable<Item>, work: (item: Item) => void): Promise<void> {
  let end = performance.now() + TURN_MS;
  for (const item of items) {
    work(item);
    if (performance.now() < end) continue;
    await nextTurn();
    end = performance.now() + TURN_MS;
  }
}
