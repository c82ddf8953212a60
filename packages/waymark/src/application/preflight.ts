import type { Exchange } from "../controller/exchange.ts";
import type { Answer } from "../http/answer.ts";
import { type CorsOptions, isPreflight, preflightAnswer } from "../http/cors.ts";
import type { Incoming } from "../http/incoming.ts";
import { resolve } from "../routing/resolve-path.ts";
import type { Routes } from "../routing/routes.ts";
import { allowedOn } from "./missing.ts";
import type { Versions } from "./versions.ts";

interface Asked {
  readonly routes: Routes;
  readonly incoming: Incoming;
  readonly segments: readonly string[];
  readonly versions: Versions | undefined;
  readonly exchange: Exchange | undefined;
}

/** The answer to a preflight for a path that exists. Undefined for any other request. */
export function answerPreflight(
  { routes, incoming, segments, versions, exchange }: Asked,
  cors: CorsOptions,
): Answer | undefined {
  if (!isPreflight(incoming)) return undefined;
  const inVersions = versions?.allowed(routes, segments) ?? [];
  if (inVersions.length > 0) return preflightAnswer(incoming, inVersions.join(", "), cors);
  const selected = versions === undefined ? segments : versions.select(incoming, segments);
  const target = resolve(routes.roots, selected);
  if (target === undefined) return undefined;
  if (exchange !== undefined) exchange.route = target.route.path;
  return preflightAnswer(incoming, allowedOn(routes, target, incoming.target).join(", "), cors);
}
