import type { RouteClass, RouteVerb } from "./routes.ts";

/** The methods of a class for a number of path segments, for `Allow`. Empty if there are none. */
export function allowedMethods({ verbs }: RouteClass, segmentCount: number): string[] {
  const served = [...verbs.values()].filter((entry) => serves(entry, segmentCount));
  return served.length === 0 ? [] : withImplied(served.map(({ verb }) => verb));
}

/** HEAD comes with GET, OPTIONS with any method. */
export function withImplied(verbs: Iterable<string>): string[] {
  const all = new Set(verbs);
  if (all.has("GET")) all.add("HEAD");
  all.add("OPTIONS");
  return [...all].sort();
}

/** True if some request with this number of path segments has all its arguments. */
function serves({ binder, signature }: RouteVerb, segmentCount: number): boolean {
  if (segmentCount > binder.maximum) return false;
  if (segmentCount >= binder.minimum) return true;
  const names = signature.parameters.map(({ name }) => `${encodeURIComponent(name)}=`);
  return binder.missing(segmentCount, names.join("&"), false) === undefined;
}
