import { HttpError } from "./http-error.ts";
import { decodeUtf8, MAX_DEPTH, parseText, tooDeep } from "./json.ts";
import { outlineJson } from "./json-outline.ts";

/** Limits for `parseJson` in addition to its defaults. */
export interface JsonLimits {
  /** Number of members of all objects. Default: no limit besides the body's size. */
  readonly members?: number;
  /** Number of members of one object. Default: no limit besides the body's size. */
  readonly objectMembers?: number;
  /** Number of objects and lists. Default: no limit besides the body's size. */
  readonly containers?: number;
}

/**
 * Parses a JSON body: strict UTF-8, bounded depth, no duplicate members, no key that could reach a prototype. Checks
 * `limits` before it parses anything.
 * @throws {HttpError} 400, and 413 above `limits`
 * @example
 * ```ts
 * import { Controller, parseJson } from "@tollway/waymark";
 *
 * export class Hooks extends Controller {
 *   static override rawBody = true;
 *
 *   async POST() { return parseJson(await this.bytes()); }
 * }
 * ```
 */
export function parseJson(bytes: Uint8Array, limits?: JsonLimits): unknown {
  const text = decodeUtf8(bytes);
  if (limits !== undefined) checkLimits(text, limits);
  return parseText(text);
}

function checkLimits(text: string, limits: JsonLimits): void {
  const { members, containers, largest, depth } = outlineJson(text);
  if (depth > MAX_DEPTH) throw tooDeep();
  refuseAbove(limits.objectMembers, largest, "members in one object");
  refuseAbove(limits.members, members, "members");
  refuseAbove(limits.containers, containers, "objects and lists");
}

function refuseAbove(limit: number | undefined, count: number, what: string): void {
  if (limit === undefined || count <= limit) return;
  throw new HttpError(413, `the JSON body has ${count} ${what}; the limit is ${limit}`);
}
