import { nearestName } from "../signature/model/nearest-name.ts";
import { type Walk, walk } from "./resolve-path.ts";
import type { RouteModule } from "./routes.ts";
import { segmentOfClass } from "./segment-names.ts";

/** The path of a similar route: replaces the first segment that matches nothing with a similar name. */
export function nearestPath(roots: readonly RouteModule[], segments: readonly string[]): string | undefined {
  const walks = roots.map((root) => walk(root, segments));
  const depth = Math.max(...walks.map((each) => each.depth));
  const typed = segments[depth];
  if (typed === undefined) return undefined;
  const names = walks.filter((each) => each.depth === depth).flatMap((each) => [...namesAt(each)]);
  const best = nearestName(segmentOfClass(typed), names);
  if (best === undefined) return undefined;
  return [...segments.slice(0, depth), best].map((segment) => `/${encodeURIComponent(segment)}`).join("");
}

function namesAt({ route, module, named }: Walk): Iterable<string> {
  if (named) return route!.members.keys();
  return [...module.children.keys(), ...module.classes.keys()];
}
