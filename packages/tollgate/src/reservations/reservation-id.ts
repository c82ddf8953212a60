/**
 * Ids of reservations: 32 hexadecimal digits of random bits, and 8 of the second in which the reservation was made. The
 * second finds the window of the reservation when a commit comes in a later one.
 */
import { hash, randomFillSync } from "node:crypto";
import type { ReservedGroup, Token } from "../counters/reservations.ts";

export interface ReservationId {
  readonly token: Token;
  /** Seconds since the epoch. 0 if the id is not one of ours. */
  readonly madeAt: number;
}

const TOKEN_BYTES = 16;
const TOKEN_DIGITS = 32;
const ID_DIGITS = 40;
/** Random bytes are drawn in advance: one call for 256 ids. */
const random = Buffer.alloc(TOKEN_BYTES * 256);
let digits = "";
let used = random.length;
/** The digits of the last second. */
let second = -1;
let secondDigits = "";

/** @param nowSeconds since the epoch */
export function newId(nowSeconds: number): { readonly text: string; readonly token: Token } {
  if (used === random.length) {
    randomFillSync(random);
    digits = random.toString("hex");
    used = 0;
  }
  if (nowSeconds !== second) {
    second = nowSeconds;
    secondDigits = (nowSeconds >>> 0).toString(16).padStart(8, "0");
  }
  const token = tokenAt(random, used);
  const text = digits.slice(used * 2, used * 2 + TOKEN_DIGITS) + secondDigits;
  used += TOKEN_BYTES;
  return { text, token };
}

/** Reads an id. Any other text is an unknown id, which a store remembers like its own. Undefined for none. */
export function readId(text: string): ReservationId | undefined {
  if (text === "") return undefined;
  if (text.length === ID_DIGITS && readDigits(text)) {
    const [a, b, c, d, madeAt] = parts;
    return { token: [a!, b!, c!, d!], madeAt: madeAt! >>> 0 };
  }
  return { token: tokenAt(hash("sha256", text, "buffer"), 0), madeAt: 0 };
}

/** The five words of the last id. */
const parts = new Int32Array(ID_DIGITS / 8);

/** Reads hexadecimal digits in lower case. */
function readDigits(text: string): boolean {
  for (let index = 0; index < ID_DIGITS; index++) {
    const unit = text.charCodeAt(index);
    const digit = unit >= 97 ? unit - 87 : unit - 48;
    if (digit < 0 || digit > 15 || (unit < 97 && digit > 9)) return false;
    parts[index >> 3] = (parts[index >> 3]! << 4) | digit;
  }
  return true;
}

function tokenAt(bytes: Buffer, at: number): Token {
  return [
    bytes.readInt32BE(at),
    bytes.readInt32BE(at + 4),
    bytes.readInt32BE(at + 8),
    bytes.readInt32BE(at + 12),
  ];
}

/**
 * Binds a token to the counters of a request: with other descriptors the same id is an unknown one. The hash separates
 * descriptors, it hides nothing: a store finds a hold by its counter and all 128 bits.
 */
export function bind([a, b, c, d]: Token, groups: readonly ReservedGroup[]): Token {
  let sum = 0x811c9dc5;
  for (const { limits } of groups)
    for (const { stem, place } of limits) {
      if (place === undefined)
        for (let at = 0; at < stem.length; at++) sum = Math.imul(sum ^ stem.charCodeAt(at), 0x01000193);
      else
        for (let at = place.start; at < place.end; at++) sum = Math.imul(sum ^ place.bytes[at]!, 0x01000193);
      sum = Math.imul(sum ^ 0x100, 0x01000193);
    }
  return [a, b, c, d ^ sum];
}
