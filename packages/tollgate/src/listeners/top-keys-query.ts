import { HttpError } from "@tollway/waymark";
import { MAX_LISTED, type TopKey, type TopKeysSnapshot } from "../observe/top-keys/top-keys.ts";

/** The query of `/stats/top`. @throws {HttpError} 400 */
export function readTopQuery(query: URLSearchParams): {
  readonly n: number | undefined;
  readonly rule: string | undefined;
  readonly refused: boolean;
} {
  const text = query.get("n");
  const n = text === null ? undefined : /^[0-9]+$/.test(text) ? Number(text) : 0;
  if (n !== undefined && (n < 1 || n > MAX_LISTED)) {
    const message = `n must be a whole number from 1 to ${MAX_LISTED}`;
    throw new HttpError(400, message, { errors: [{ in: "query", name: "n", message }] });
  }
  const refused = query.get("refused");
  return { n, rule: query.get("rule") ?? undefined, refused: refused !== null && refused !== "false" };
}

/** A caller of the page. */
export interface Caller {
  readonly remoteAddress: string | undefined;
  readonly headers: { get(name: string): string | null };
}

const HIDDEN = "*****";

/** The same without values of requests. */
export function hideValues({ rules, refused, ...rest }: TopKeysSnapshot): TopKeysSnapshot {
  return {
    ...rest,
    rules: rules.map((rule) => ({
      ...rule,
      keys: rule.keys.map(hide),
      refusedKeys: rule.refusedKeys.map(hide),
    })),
    refused: refused.map(hide),
  };
}

function hide<Key extends TopKey>(key: Key): Key {
  return { ...key, entries: key.entries.map(([name]) => [name, HIDDEN] as const) };
}
