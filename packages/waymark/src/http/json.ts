import { isUtf8 } from "node:buffer";
import { HttpError } from "./error.ts";

/** Deeper documents than this have no honest use, and would overflow the stack of whatever walks them. */
const MAX_DEPTH = 1_000;

/** Parses a JSON body: strictly UTF-8, bounded in depth, and without a key that could reach a prototype. */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  // A document of n characters is at most n / 2 deep, so that short ones need no scan.
  if (text.length > MAX_DEPTH * 2 && isTooDeep(text)) {
    throw new HttpError(400, `the JSON body is nested more than ${MAX_DEPTH} levels deep`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new HttpError(400, `the body is not valid JSON: ${(error as Error).message.slice(0, 200)}`);
  }
  if (text.includes("__proto__") || text.includes("\\u")) refuseProto(value);
  return value;
}

export function decodeUtf8(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new HttpError(400, "the body is not valid UTF-8");
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString("utf8");
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** Counts brackets outside strings. Malformed text gets any answer: `JSON.parse` refuses it anyway. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) {
      at++;
      while (at < text.length && text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1;
    } else if (char === 0x5b || char === 0x7b) {
      if (++depth > MAX_DEPTH) return true;
    } else if (char === 0x5d || char === 0x7d) depth--;
  }
  return false;
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
