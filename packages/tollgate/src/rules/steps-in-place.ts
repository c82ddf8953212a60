import { type DescriptorPlaces, ENTRY_PLACES, type RequestPlaces } from "../protocol/scan-request.ts";
import { DOMAIN } from "./compiled-rules.ts";
import { NEEDS_TEXT, NO_NODE, type RulesInPlace } from "./rule.ts";
import type { StepTable } from "./step-table.ts";

/** Steps from the bytes of a message. */
export class StepsInPlace implements RulesInPlace {
  readonly #table: StepTable;

  constructor(table: StepTable) {
    this.#table = table;
  }

  domain({ buffer, domainStart, domainEnd }: RequestPlaces): number {
    const id = this.#table.texts.find(buffer, domainStart, domainEnd);
    return id === 0 ? 0 : this.#table.target(0, id, DOMAIN);
  }

  node(domain: number, places: RequestPlaces, { firstEntry, entries }: DescriptorPlaces): number {
    if (entries === 0) return NO_NODE;
    let node = domain;
    const end = (firstEntry + entries) * ENTRY_PLACES;
    for (let entry = firstEntry * ENTRY_PLACES; entry < end && node >= 0; entry += ENTRY_PLACES)
      node = this.#step(node, places, entry);
    return node;
  }

  /** @param entry its position in `places.entries` */
  #step(level: number, places: RequestPlaces, entry: number): number {
    const table = this.#table;
    const { buffer, entries } = places;
    const key = table.texts.find(buffer, entries[entry]!, entries[entry + 1]!);
    if (key === 0) return NO_NODE;
    const start = entries[entry + 2]!;
    const end = entries[entry + 3]!;
    const fallback = table.fallback(level, key);
    if (fallback === undefined || fallback.hasExact) {
      const value = table.texts.find(buffer, start, end);
      const exact = value === 0 ? 0 : table.target(level, key, value);
      if (exact !== 0) return exact;
      if (fallback === undefined) return NO_NODE;
    }
    const { wildcards, keyOnly } = fallback;
    if (wildcards === undefined) return keyOnly;
    if (wildcards.bytes !== undefined) return wildcards.bytes.find(buffer, start, end) ?? keyOnly;
    // The cache key needs the text of such a value, too. Decoding it twice doubles the CPU of the worst requests.
    return isAscii(buffer, start, end) ? (wildcards.find(places.text(start, end)) ?? keyOnly) : NEEDS_TEXT;
  }
}

function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  let bits = 0;
  for (let at = start; at < end; at++) bits |= bytes[at]!;
  return bits < 0x80;
}
