import { HttpError } from "./http-error.ts";
import { countKeys, locateDuplicate, repeatsMember } from "./json-members.ts";

/** Deeper documents could overflow the stack of a recursive reader. */
export const MAX_DEPTH = 1_000;

/** Removes a byte order mark. */
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Longest part of a member's name in a message. */
const LONGEST_NAME = 100;

/** Parses a JSON text: bounded depth, no duplicate members, no key that could reach a prototype. */
export function parseText(text: string): unknown {
  const value = parseUnchecked(text);
  refuseUnsafe(text, value);
  return value;
}

/** Parses a JSON text. {@link refuseUnsafe} must follow. */
export function parseUnchecked(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new HttpError(400, `the body is not valid JSON: ${(error as Error).message.slice(0, 200)}`);
  }
}

/**
 * Throws 400 for the value of a JSON text that is too deep, or has a key that could reach a prototype or a duplicate member.
 * @param members the number of members of all objects, if a check of the value's type has excluded depth and such keys
 */
export function refuseUnsafe(text: string, value: unknown, members?: number): void {
  const keys = members ?? countKeys(value, MAX_DEPTH);
  if (keys === undefined) throw tooDeep();
  if (members === undefined && (text.includes("__proto__") || text.includes("\\u"))) refuseProto(value);
  if (repeatsMember(text, keys)) refuseDuplicate(text);
}

export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new HttpError(400, "the body is not valid UTF-8");
  }
}

export function tooDeep(): HttpError {
  return new HttpError(400, `the JSON body is nested more than ${MAX_DEPTH} levels deep`);
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
