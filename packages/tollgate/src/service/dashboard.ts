import { join } from "node:path";
import type { CounterStore } from "../counters/store.ts";
import type { LoadLog } from "../dashboard/load-log.ts";
import type { Left, RuleKeys, ThreadState } from "../dashboard/messages.ts";
import { Monitor } from "../dashboard/monitor.ts";
import { pageFor } from "../dashboard/page.ts";
import { dashboardPages } from "../dashboard/pages.ts";
import { type DescriptorExplanation, explainDecision } from "../decision/explain-decision.ts";
import { readVersion } from "../installation.ts";
import type { DashboardParts } from "../listeners/debug-pages.ts";
import type { DecisionFeed } from "../observe/decision-log/decision-feed.ts";
import type { Health } from "../observe/health.ts";
import type { Logger } from "../observe/log.ts";
import type { Registry } from "../observe/registry.ts";
import type { TopKeys } from "../observe/top-keys/top-keys.ts";
import type { ActiveOverrides } from "../overrides/table.ts";
import type { IndexedRuleSet } from "../rules/rule-set.ts";
import type { Settings } from "../settings/settings.ts";
import { readExcerpt } from "../sources/read-excerpt.ts";
import { decisionOptions } from "./settings-to-options.ts";

export interface DashboardOptions {
  readonly settings: Settings;
  readonly registry: Registry;
  readonly health: Health;
  readonly log: Logger;
  readonly loads: LoadLog;
  readonly ruleSet: () => IndexedRuleSet | undefined;
  readonly topKeys: TopKeys;
  readonly feed: DecisionFeed;
  readonly threads: () => readonly ThreadState[];
  /** Whether an `Authorization` header has a credential of the admin API. */
  readonly accepts: (authorization: string | null) => boolean;
  /** The store without the over-limit cache. */
  readonly backend: CounterStore;
  readonly overrides: ActiveOverrides | undefined;
}

export interface Dashboard extends DashboardParts {
  stop(): void;
}

/** Starts what the dashboard shows. */
export function openDashboard(options: DashboardOptions): Dashboard {
  const { settings, loads, ruleSet, backend, accepts, topKeys, feed, overrides } = options;
  const { kvstore, objcache, store, decision, files, config } = settings;
  const deciding = decisionOptions(settings, overrides);
  const monitor = new Monitor({
    ...options,
    version: readVersion(),
    storeKind: store.backend,
    failureMode: store.backend === "embedded" ? undefined : (kvstore ?? objcache)?.failureMode,
    shadowMode: decision.shadowMode,
    readKeys: topKeys.enabled ? (rule) => keysOf(topKeys, rule) : undefined,
    async readLeft(domain, entries) {
      // A look: the answer has what is left now.
      const descriptor = { entries, limit: undefined, hitsAddend: 0, isNegativeHits: false };
      const request = { domain, descriptors: [descriptor], hitsAddend: 0 };
      const { descriptors } = await explainDecision(request, ruleSet(), backend, deciding, Date.now());
      return leftOf(descriptors[0]!);
    },
  });
  const directory = join(files.root, files.subdirectory, files.appDirectory);
  monitor.start();
  return {
    home: pageFor,
    controllers: dashboardPages({
      monitor,
      loads,
      feed,
      accepts,
      readSource: async (file, line) =>
        config.type === "xds" ? undefined : readExcerpt(directory, files.ignoreDotFiles, file, line),
    }),
    stop: () => monitor.stop(),
  };
}

/** Keys that the page lists. */
const LISTED = 10;

async function keysOf(topKeys: TopKeys, name: string): Promise<RuleKeys | undefined> {
  const { rules, from, to } = await topKeys.snapshot({ rule: name, n: LISTED });
  const [rule] = rules;
  if (rule === undefined) return undefined;
  const { hits, refused, keys, refusedKeys } = rule;
  return { rule: name, from, to, hits, refused, keys, refusedKeys };
}

/** The rest of the limit; the smallest rest of several limits. */
function leftOf({ count, window, limits, answer }: DescriptorExplanation): Left | undefined {
  if (limits !== undefined) {
    const read = limits.filter(({ remaining }) => remaining !== undefined);
    const [least] = read.sort((a, b) => a.remaining! - b.remaining!);
    if (least === undefined) return undefined;
    const reset = least.window?.secondsUntilReset;
    return {
      used: least.used!,
      remaining: least.remaining!,
      ...(reset !== undefined && { resetSeconds: reset }),
    };
  }
  if (count === undefined) return undefined;
  return {
    used: count,
    remaining: answer.limitRemaining,
    ...(window && { resetSeconds: window.secondsUntilReset }),
  };
}
