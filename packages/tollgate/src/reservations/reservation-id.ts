/** Makes ids of reservations, and the tokens by which a store knows them. */
import { hash, randomFillSync } from "node:crypto";
import type { ReservedGroup, Token } from "../counters/reservations.ts";
import type { Mutable } from "../decision/prepared.ts";
import type { IdWords } from "../protocol/reservation-id.ts";

/** Random words are drawn in advance: one call for 256 ids. */
const random = new Int32Array(4 * 256);
let used = random.length;

/** @param nowSeconds since the epoch */
export function makeId(id: number[], nowSeconds: number): void {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  for (let index = 0; index < 4; index++) id[index] = random[used++]!;
  id[4] = nowSeconds | 0;
}

/**
 * Copies an id. Any text that is not one of ours is an unknown id, which a store remembers like its own: made in the
 * second 0.
 */
export function copyId(id: number[], given: IdWords | string): void {
  if (typeof given !== "string") {
    for (let index = 0; index < id.length; index++) id[index] = given[index]!;
    return;
  }
  const digest = hash("sha256", given, "buffer");
  for (let index = 0; index < 4; index++) id[index] = digest.readInt32BE(4 * index);
  id[4] = 0;
}

/**
 * Binds an id to the counters of a request: with other descriptors the same id is an unknown one. The hash separates
 * descriptors, it hides nothing: a store finds a hold by its counter and all 128 bits.
 */
export function bind(id: IdWords, groups: readonly ReservedGroup[], token: Mutable<Token>): void {
  let sum = 0x811c9dc5;
  for (let index = 0; index < groups.length; index++) {
    const { limits } = groups[index]!;
    for (let each = 0; each < limits.length; each++) {
      const { stem, place } = limits[each]!;
      if (place === undefined)
        for (let at = 0; at < stem.length; at++) sum = Math.imul(sum ^ stem.charCodeAt(at), 0x01000193);
      else {
        const { bytes, end } = place;
        for (let at = place.start; at < end; at++) sum = Math.imul(sum ^ bytes[at]!, 0x01000193);
      }
      sum = Math.imul(sum ^ 0x100, 0x01000193);
    }
  }
  token[0] = id[0]!;
  token[1] = id[1]!;
  token[2] = id[2]!;
  token[3] = id[3]! ^ sum;
}
