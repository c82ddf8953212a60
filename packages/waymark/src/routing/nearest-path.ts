import { type Walk, walk } from "./resolve-path.ts";
import type { RouteModule } from "./routes.ts";
import { segmentOfClass } from "./segment-names.ts";

/** Longer segments get no suggestion. This bounds the work. */
const MAX_SEGMENT = 64;

/** The path of a similar route: replaces the first segment that matches nothing with a similar name. */
export function nearestPath(roots: readonly RouteModule[], segments: readonly string[]): string | undefined {
  const walks = roots.map((root) => walk(root, segments));
  const depth = Math.max(...walks.map((each) => each.depth));
  const typed = segments[depth];
  if (typed === undefined || typed.length > MAX_SEGMENT) return undefined;
  const wanted = segmentOfClass(typed);
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const each of walks) {
    if (each.depth !== depth) continue;
    for (const name of namesAt(each)) {
      const limit = Math.min(name.length < 5 ? 1 : 2, name.length - 1);
      const distance = editDistance(wanted, name, limit);
      if (distance <= limit && distance < least) {
        best = name;
        least = distance;
      }
    }
  }
  if (best === undefined) return undefined;
  return [...segments.slice(0, depth), best].map((segment) => `/${encodeURIComponent(segment)}`).join("");
}

function namesAt({ route, module, named }: Walk): Iterable<string> {
  if (named) return route!.members.keys();
  return [...module.children.keys(), ...module.classes.keys()];
}

/**
 * Counts insertions, deletions, substitutions and swaps of neighbours. Returns any number above `limit` if there are
 * more.
 */
export function editDistance(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) > limit) return limit + 1;
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1];
      let cost = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        cost = Math.min(cost, before[j - 2]! + 1);
      next.push(cost);
    }
    // A swap refers to the row before the last, so one row beyond the limit does not end the search.
    if (Math.min(...next) > limit && Math.min(...row) > limit) return limit + 1;
    before = row;
    row = next;
  }
  return row[other.length]!;
}
