import { Buffer } from "node:buffer";

/** A request's path from an ASGI or WSGI server. */
export interface PathParts {
  /** Percent-decoded, without the query: `path` of ASGI, `PATH_INFO` of WSGI. */
  readonly path: string;
  /** The path as the client sent it, if the server provides it: `raw_path`, `RAW_URI`, `REQUEST_URI`. */
  readonly raw: string | undefined;
  /** The mount point of the application: `root_path`, `SCRIPT_NAME`. */
  readonly root: string;
  /** The raw query, without its `?`. */
  readonly query: string;
  /** The encoding of the decoded path: ASGI decodes UTF-8, WSGI has one character for each byte. */
  readonly encoding: "utf8" | "latin1";
}

/**
 * The request target below the application's root, percent-encoded. Uses the raw path if it decodes to the path,
 * because only the raw path distinguishes `%2F` from `/`. If middleware has changed the path, the changed path
 * counts.
 */
export function targetOf(parts: PathParts): string {
  const path = pathBelowRoot(parts);
  return parts.query === "" ? path : `${path}?${parts.query}`;
}

function pathBelowRoot({ path, raw, root: mount, encoding }: PathParts): string {
  const root = mount.endsWith("/") ? mount.slice(0, -1) : mount;
  // The most common case: nothing is encoded and the application is at the root.
  if (root === "" && raw === path && !path.includes("%")) return path || "/";
  // ASGI's path includes the root (servers before 2024 left it out). WSGI's path does not.
  const below = encoding === "utf8" && startsWithPath(path, root) ? path.slice(root.length) : path;
  if (raw !== undefined) {
    const plain = pathOfTarget(raw);
    if (decoded(plain, encoding) === below) return plain || "/";
    const cut = withoutRoot(plain, root, encoding);
    if (cut !== undefined && decoded(cut, encoding) === below) return cut || "/";
  }
  return encoded(below, encoding) || "/";
}

function startsWithPath(path: string, root: string): boolean {
  return path.startsWith(root) && (path.length === root.length || path[root.length] === "/");
}

/** The path without scheme, authority and query. Proxies send the absolute form (RFC 9112 section 3.2.2). */
function pathOfTarget(target: string): string {
  const authority = target.startsWith("/") ? null : /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(target);
  const path = authority === null ? target : target.slice(authority[0].length);
  const mark = path.indexOf("?");
  return mark === -1 ? path : path.slice(0, mark);
}

/** Removes the root from a path that is still encoded. */
function withoutRoot(raw: string, root: string, encoding: PathParts["encoding"]): string | undefined {
  if (root === "") return raw;
  let at = 0;
  while (at < raw.length) {
    const slash = raw.indexOf("/", at + 1);
    at = slash === -1 ? raw.length : slash;
    const head = decoded(raw.slice(0, at), encoding);
    if (head === root) return raw.slice(at);
    if (head.length >= root.length) return undefined;
  }
  return undefined;
}

/** Percent-decodes like a server: keeps a malformed escape, and replaces a malformed character with U+FFFD. */
function decoded(text: string, encoding: PathParts["encoding"]): string {
  if (!text.includes("%")) return text;
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return encoding === "latin1" ? bytes : Buffer.from(bytes, "latin1").toString("utf8");
}

/** Percent-encodes the characters that RFC 3986 does not allow in a path. */
function encoded(text: string, encoding: PathParts["encoding"]): string {
  if (/^[\w!$&'()*+,./:;=@~-]*$/.test(text)) return text;
  let result = "";
  for (const byte of Buffer.from(text, encoding)) {
    const character = String.fromCharCode(byte);
    result += /[\w!$&'()*+,./:;=@~-]/.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return result;
}
