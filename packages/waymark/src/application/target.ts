import { HttpError } from "../http/error.ts";

/** A request-target, cut once. */
export interface CutTarget {
  readonly path: string;
  /** Without its `?`. */
  readonly query: string;
}

/** Cuts origin-form, and absolute-form as proxies send it (RFC 9112 section 3.2). `*` is handled before. */
export function cutTarget(target: string): CutTarget {
  const from = target.charCodeAt(0) === 0x2f ? 0 : pathOfAbsolute(target);
  const mark = target.indexOf("?", from);
  if (mark === -1) return { path: from === 0 ? target : target.slice(from), query: "" };
  return { path: target.slice(from, mark), query: target.slice(mark + 1) };
}

function pathOfAbsolute(target: string): number {
  const authority = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(target);
  if (authority === null) throw new HttpError(400, "the request target is neither a path nor a URL");
  return authority[0].length;
}
