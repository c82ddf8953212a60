import type { CounterStore } from "../counters/store.ts";
import { keysFor } from "../dashboard/viewer.ts";
import { explainDecision } from "../decision/explain-decision.ts";
import { debugAccess } from "../listeners/debug-access.ts";
import { type DebugPagesOptions, debugPages } from "../listeners/debug-pages.ts";
import { type HttpListener, openHttpListener } from "../listeners/http-listener.ts";
import type { ActiveOverrides } from "../overrides/table.ts";
import type { Settings } from "../settings/settings.ts";
import { decisionOptions } from "./settings-to-options.ts";

interface DebugOptions extends Omit<DebugPagesOptions, "explain" | "profiles" | "writes" | "showsKeys"> {
  readonly settings: Settings;
  /** Whether an `Authorization` header has a credential of the admin API. */
  readonly accepts: (authorization: string | null) => boolean;
  /** The store without the over-limit cache, so that explanations show the counters themselves. */
  readonly backend: CounterStore;
  readonly overrides: ActiveOverrides | undefined;
}

/** Opens the debug port. Rejects if it cannot be bound. */
export function openDebug({
  settings,
  accepts,
  backend,
  overrides,
  ...pages
}: DebugOptions): Promise<HttpListener> {
  const { host, port, profiles, writes } = settings.debug;
  return openHttpListener({
    name: "debug",
    host,
    port,
    log: pages.log,
    access: debugAccess(settings.debug),
    controllers: debugPages({
      ...pages,
      overrides,
      showsKeys: (caller) => keysFor(caller, accepts).shown,
      profiles,
      writes,
      explain: (request) =>
        explainDecision(request, pages.ruleSet(), backend, decisionOptions(settings, overrides), Date.now()),
    }),
  });
}
