import { type Answer, emptyAnswer } from "../http/answer.ts";
import type { Call } from "../http/call.ts";
import { HttpError, type RequestFault } from "../http/http-error.ts";
import type { Incoming } from "../http/incoming.ts";
import { cutTarget } from "../http/target.ts";
import { allowedMethods } from "../routing/allow.ts";
import { nearestPath } from "../routing/nearest-path.ts";
import { splitPath, type Target } from "../routing/resolve-path.ts";
import type { RouteClass, Routes, RouteVerb } from "../routing/routes.ts";
import type { ApplicationOptions } from "./options.ts";

/**
 * The error for a path that leads to no class.
 * @param version the version that `Accept` has selected
 */
export function noController(routes: Routes, path: string, version?: string): HttpError {
  const whose = version === undefined ? "" : ` of version ${version}`;
  return new HttpError(404, `no controller${whose} serves ${path.slice(0, 200)}${hint(routes, path)}`);
}

/** The error for more path segments than the method takes. The extra segment is usually a misspelt route. */
export function tooManySegments(
  errors: readonly RequestFault[],
  place: {
    readonly routes: Routes;
    readonly route: RouteClass;
    readonly entry: RouteVerb;
    readonly call: Call;
  },
): HttpError {
  const { routes, route, entry, call } = place;
  const { maximum } = entry.binder;
  const takes =
    maximum === 0 ? "no path segment" : `at most ${maximum} path segment${maximum === 1 ? "" : "s"}`;
  const { path } = cutTarget(call.incoming.target);
  const others = ownMethods(route, allowedMethods(route, call.positionals.length));
  const other = others.length === 0 ? "" : `; ${others.join(", ")} would accept this many`;
  const detail = `no route matches ${path.slice(0, 200)}: ${entry.verb} ${route.path} takes ${takes}, got ${call.positionals.length}`;
  return new HttpError(404, `${detail}${other}${hint(routes, path)}`, { errors });
}

/** Removes the implied methods: HEAD, which comes with GET, and OPTIONS, which comes with any method. */
function ownMethods({ verbs }: RouteClass, allowed: readonly string[]): string[] {
  return allowed.filter((each) => verbs.has(each));
}

/** The answer if the class does not have the request's method. */
export function withoutVerb(
  routes: Routes,
  { route, positionals }: Target,
  { method, target }: Incoming,
  { knownMethods }: ApplicationOptions,
): Answer {
  if (method !== "OPTIONS" && !routes.verbs.has(method) && knownMethods?.includes(method) !== true)
    throw new HttpError(501, `no controller serves ${method.slice(0, 100)}`);
  const allowed = allowedOn(routes, { route, positionals }, target);
  const allow = allowed.join(", ");
  if (method === "OPTIONS") return emptyAnswer(204, ["allow", allow]);
  const named = ownMethods(route, allowed);
  throw new HttpError(405, `${route.path} does not serve ${method}: it serves ${named.join(", ")}`, {
    headers: { allow },
  });
}

/** The methods that serve a path. Throws 404 if no method takes that many segments. */
export function allowedOn(routes: Routes, { route, positionals }: Target, target: string): string[] {
  const allowed = allowedMethods(route, positionals.length);
  if (allowed.length > 0) return allowed;
  const { path } = cutTarget(target);
  throw new HttpError(404, `no route matches ${path.slice(0, 200)}${hint(routes, path)}`);
}

function hint({ roots }: Routes, path: string): string {
  const near = nearestPath(roots, splitPath(path));
  return near === undefined ? "" : `; did you mean ${near}?`;
}
