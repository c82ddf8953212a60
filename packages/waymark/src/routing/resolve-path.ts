import { HttpError } from "../http/http-error.ts";
import type { RouteClass, RouteModule } from "./routes.ts";
import { lookUp } from "./segment-names.ts";

/** The result of routing a path: a class, and the remaining segments for its method. */
export interface Target {
  readonly route: RouteClass;
  readonly positionals: readonly string[];
}

const NONE: readonly string[] = [];

/** Splits a path as sent, then decodes each segment, so that `%2F` separates nothing. Removes empty segments. */
export function splitPath(path: string): readonly string[] {
  if (path === "/" || path === "") return NONE;
  const segments: string[] = [];
  let at = 0;
  while (at < path.length) {
    let end = path.indexOf("/", at);
    if (end === -1) end = path.length;
    if (end > at) segments.push(decodeSegment(path.slice(at, end)));
    at = end + 1;
  }
  return segments;
}

function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new HttpError(400, `malformed percent-encoding in the path segment "${segment.slice(0, 100)}"`);
  }
}

/**
 * Finds the class for a path. With several trees, the one that matches the most segments wins. On a tie, the earlier
 * tree wins.
 */
export function resolve(roots: readonly RouteModule[], segments: readonly string[]): Target | undefined {
  if (roots.length === 1) {
    const { route, depth } = walk(roots[0]!, segments);
    return route === undefined ? undefined : target(route, segments, depth);
  }
  let best: Walk | undefined;
  for (const root of roots) {
    const found = walk(root, segments);
    if (best === undefined || found.depth > best.depth) best = found;
    // On a tie the earlier tree wins, unless it has no class for the path.
    else if (found.depth === best.depth && best.route === undefined) best = found;
  }
  return best?.route === undefined ? undefined : target(best.route, segments, best.depth);
}

export interface Walk {
  readonly route: RouteClass | undefined;
  /** Number of segments that name modules and classes. */
  readonly depth: number;
  /** The deepest module. */
  readonly module: RouteModule;
  /** False if the route is the module's fallback. */
  readonly named: boolean;
}

export function walk(root: RouteModule, segments: readonly string[]): Walk {
  let module = root;
  let depth = 0;
  while (depth < segments.length) {
    const child = lookUp(module.children, segments[depth]!);
    if (child === undefined) break;
    module = child;
    depth++;
  }
  const named = depth < segments.length ? lookUp(module.classes, segments[depth]!) : undefined;
  if (named === undefined) return { route: module.fallback, depth, module, named: false };
  let route = named;
  depth++;
  while (depth < segments.length) {
    const member = lookUp(route.members, segments[depth]!);
    if (member === undefined) break;
    route = member;
    depth++;
  }
  return { route, depth, module, named: true };
}

function target(route: RouteClass, segments: readonly string[], depth: number): Target {
  return { route, positionals: depth === 0 ? segments : segments.slice(depth) };
}
