import { type CatalogueEntry, catalogue, RULE } from "./catalogue.ts";

/** The Go service's names of the stores, and the names in the catalogue. */
const storeNames = [
  ["redis", "kvstore"],
  ["memcache", "objcache"],
] as const;

/** Catalogue entry of a name, and the variable parts of the name as labels. */
export interface Described {
  readonly entry: CatalogueEntry;
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
}

const patterns = catalogue
  .filter(({ name }) => !name.startsWith(RULE))
  .map((entry) => ({
    entry,
    pattern: new RegExp(
      `^${entry.name
        .replace(/\.__\w+=<\w+>/g, "")
        .replace(/\./g, "\\.")
        .replace(/<(\w+)>/g, "(?<$1>[^.]+)")}$`,
    ),
  }));

/**
 * Finds a service statistic (not a rule statistic) by its emitted name, without tags. Also finds the statistics of a
 * renamed store (`redis`); their metrics carry the same new name.
 */
export function describe(name: string): Described | undefined {
  let canonical = name;
  const renamed: (readonly [string, string])[] = [];
  for (const [other, own] of storeNames) {
    if (!canonical.includes(other)) continue;
    canonical = canonical.replaceAll(other, own);
    renamed.push([other, own]);
  }
  for (const { entry, pattern } of patterns) {
    const match = pattern.exec(canonical);
    if (match === null) continue;
    const groups: Record<string, string> = { ...match.groups };
    let metric = entry.metric.replace(/<(\w+)>/g, (_, part: string) => groups[part]!.replace(/\W/g, "_"));
    const labels: Record<string, string> = {};
    for (const label of entry.labels) if (label in groups) labels[label] = groups[label]!;
    for (const [other, own] of renamed) {
      metric = metric.replaceAll(own, other);
      for (const label of Object.keys(labels)) labels[label] = labels[label]!.replaceAll(own, other);
    }
    return { entry, metric, labels };
  }
  return undefined;
}
