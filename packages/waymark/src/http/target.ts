import { authorityOf } from "./authority.ts";

/** The parts of a request-target. */
export interface CutTarget {
  /** `host:port` of the absolute form. */
  readonly authority: string | undefined;
  readonly path: string;
  /** The query without its `?`. */
  readonly query: string;
}

/** Splits the origin form, and the absolute form that proxies send (RFC 9112 section 3.2). The path of `*` is `/`. */
export function cutTarget(target: string): CutTarget {
  if (target === "*") return { authority: undefined, path: "/", query: "" };
  const authority = target.charCodeAt(0) === 0x2f ? undefined : authorityOf(target);
  const from = authority === undefined ? 0 : target.indexOf("://") + 3 + authority.length;
  const mark = target.indexOf("?", from);
  if (mark === -1) return { authority, path: from === 0 ? target : target.slice(from), query: "" };
  return { authority, path: target.slice(from, mark), query: target.slice(mark + 1) };
}
