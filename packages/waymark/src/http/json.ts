import { HttpError } from "./http-error.ts";
import { countKeys, locateDuplicate, outlineJson, repeatsMember } from "./json-members.ts";

/** Limits for `parseJson` in addition to its defaults. */
export interface JsonLimits {
  /** Number of members of all objects. Default: no limit besides the body's size. */
  readonly members?: number;
  /** Number of members of one object. Default: no limit besides the body's size. */
  readonly objectMembers?: number;
  /** Number of objects and lists. Default: no limit besides the body's size. */
  readonly containers?: number;
}

/** Deeper documents could overflow the stack of a recursive reader. */
const MAX_DEPTH = 1_000;

/** Removes a byte order mark. */
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Longest part of a member's name in a message. */
const LONGEST_NAME = 100;

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
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new HttpError(400, `the body is not valid JSON: ${(error as Error).message.slice(0, 200)}`);
  }
  const keys = countKeys(value, MAX_DEPTH);
  if (keys === undefined) throw tooDeep();
  if (text.includes("__proto__") || text.includes("\\u")) refuseProto(value);
  if (repeatsMember(text, keys)) refuseDuplicate(text);
  return value;
}

export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new HttpError(400, "the body is not valid UTF-8");
  }
}

function checkLimits(text: string, limits: JsonLimits): void {
  const { members, containers, largest, depth } = outlineJson(text);
  if (depth > MAX_DEPTH) throw tooDeep();
  refuseAbove(limits.objectMembers, largest, "members in one object");
  refuseAbove(limits.members, members, "members");
  refuseAbove(limits.containers, containers, "objects and lists");
}

function tooDeep(): HttpError {
  return new HttpError(400, `the JSON body is nested more than ${MAX_DEPTH} levels deep`);
}

function refuseAbove(limit: number | undefined, count: number, what: string): void {
  if (limit === undefined || count <= limit) return;
  throw new HttpError(413, `the JSON body has ${count} ${what}; the limit is ${limit}`);
}

function refuseDuplicate(text: string): void {
  const duplicate = locateDuplicate(text);
  if (duplicate === undefined) return;
  const { parent, line, column } = duplicate;
  const name =
    duplicate.name.length > LONGEST_NAME ? `${duplicate.name.slice(0, LONGEST_NAME)}...` : duplicate.name;
  const path = parent === "" ? name : `${parent}.${name}`;
  throw new HttpError(
    400,
    `the JSON body has the member ${JSON.stringify(name)} twice${parent === "" ? "" : ` in ${parent}`}, at line ${line}, column ${column}`,
    {
      errors: [
        {
          in: "body",
          name: path,
          message: `must be given only once; it is given again at line ${line}, column ${column}`,
        },
      ],
    },
  );
}

function refuseProto(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) refuseProto(item);
    return;
  }
  if (Object.hasOwn(value, "__proto__")) throw new HttpError(400, 'the JSON body has a key "__proto__"');
  for (const item of Object.values(value)) refuseProto(item);
}
