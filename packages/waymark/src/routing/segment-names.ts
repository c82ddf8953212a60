/**
 * The path segment of a class: `FooBar` is `foo-bar`, `HTTPStatus` `http-status`, `OAuthToken` `o-auth-token`,
 * `V2Users` `v2-users`.
 */
export function segmentOfClass(name: string): string {
  return name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1-$2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();
}

/** The path segment of a module: its file name, with `-` for `_`. */
export function segmentOfModule(name: string): string {
  return name.replaceAll("_", "-");
}

/** Finds a decoded path segment in a table. The table's keys are written with `-`. */
export function lookUp<T>(table: ReadonlyMap<string, T>, segment: string): T | undefined {
  // Most tables are empty. This avoids hashing a segment from the URL.
  if (table.size === 0) return undefined;
  const found = table.get(segment);
  if (found !== undefined || !segment.includes("_")) return found;
  return table.get(segment.replaceAll("_", "-"));
}
