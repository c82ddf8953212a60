import type { RouteClass, RouteVerb } from "./routes.ts";

/** The methods of a class for a number of path segments, for `Allow`. Empty if there are none. */
export function allowedMethods({ verbs }: RouteClass, segmentCount: number): string[] {
  const names = new Set<string>();
  for (const entry of verbs.values()) if (serves(entry, segmentCount)) names.add(entry.verb);
  if (names.size === 0) return [];
  if (names.has("GET")) names.add("HEAD");
  names.add("OPTIONS");
  return [...names].sort();
}

/** True if some request with this number of path segments has all its arguments. */
function serves({ binder, signature }: RouteVerb, segmentCount: number): boolean {
  if (segmentCount > binder.maximum) return false;
  if (segmentCount >= binder.minimum) return true;
  const names = signature.parameters.map(({ name }) => `${encodeURIComponent(name)}=`);
  return binder.missing(segmentCount, names.join("&"), false) === undefined;
}
