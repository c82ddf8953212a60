import { hasNoMeaning, isStoreAlias } from "./kinds/aliases.ts";
import { isMogrifierVariable } from "./mogrifiers.ts";
import { type Environment, rowsOf } from "./read-values.ts";
import { table } from "./table.ts";

/** Prefixes that no other program uses. A variable with one of them is meant as a setting. */
const ownPrefixes = [
  "KVSTORE_",
  "OBJCACHE_",
  "AGENTSTATS_",
  "PULLSTATS_",
  "PUSHSTATS_",
  "RUNTIME_",
  "CONFIG_GRPC_XDS_",
  "XDS_CLIENT_",
  "GRPC_SERVER_",
  "GRPC_CLIENT_",
  "GRPC_MAX_CONNECTION_",
  "EMBEDDED_STORE_",
  "TRACING_",
];

/** Variables that Kubernetes sets for every service: `REDIS_SERVICE_HOST`, `REDIS_PORT_6379_TCP_ADDR`. */
const serviceLink = /_SERVICE_(HOST|PORT(_.+)?)$|_PORT(_\d+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)?$/;

/**
 * Warns of unknown variables that look like settings, with the most similar name.
 * @param environment empty values count as unset
 */
export function warnOfUnknown(environment: Environment): string[] {
  const known = rowsOf(table).flatMap((row) => [row.name, ...row.aliases]);
  const names = new Set(known);
  return Object.keys(environment)
    .filter((variable) => environment[variable] !== "" && !names.has(variable))
    .filter((variable) => !isMogrifierVariable(variable) && !hasNoMeaning(variable))
    .flatMap((variable) => {
      const near = nearest(variable, known);
      if (near !== undefined && !serviceLink.test(variable))
        return [`${variable} is not a setting and has no effect; did you mean ${near}?`];
      const own = ownPrefixes.some((prefix) => variable.startsWith(prefix)) || isStoreAlias(variable);
      return own && !serviceLink.test(variable) ? [`${variable} is not a setting and has no effect`] : [];
    });
}

/** Finds the known name within one or two typos. Short names get no suggestion: too many names are similar. */
function nearest(variable: string, known: readonly string[]): string | undefined {
  const tolerated = variable.length >= 12 ? 2 : variable.length >= 8 ? 1 : 0;
  let best: string | undefined;
  let least = tolerated + 1;
  for (const name of known) {
    if (Math.abs(name.length - variable.length) >= least) continue;
    const distance = editDistance(variable.toUpperCase(), name.toUpperCase());
    if (distance < least) [best, least] = [name, distance];
  }
  return best;
}

/** Levenshtein distance, computed row by row. Every index is within its row. */
function editDistance(a: string, b: string): number {
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++)
      current.push(
        Math.min(
          last[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1),
          last[column]! + 1,
          current[column - 1]! + 1,
        ),
      );
    last = current;
  }
  return last[b.length]!;
}
