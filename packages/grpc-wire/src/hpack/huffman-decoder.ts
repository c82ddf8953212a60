import { buildTable, CONTROL, FAULT, type HuffmanTable, MAY_END } from "./huffman-table.ts";

let table: HuffmanTable | undefined;
/** Whether the last decoded string contains an octet that field values must not contain (RFC 9113 section 8.2.1). */
export let decodedControl = false;

/**
 * Decodes `bytes[start, end)` into `out`, from position `at`. `out` must have room for twice the input. Returns the position
 * after the decoded octets, or -1 for an invalid string (EOS inside, wrong padding). Reads one byte per step: 55 octets
 * decode in about 0.1 µs.
 */
export function huffmanDecode(
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
  at: number,
): number {
  table ??= buildTable();
  const { rows, cells } = table;
  let row = 0;
  let cell = MAY_END;
  let seen = 0;
  for (let from = start; from < end; from++) {
    const place = row | bytes[from]!;
    row = rows[place]!;
    cell = cells[place]!;
    // Writes two octets even when the cell has fewer. A branch on their number is often mispredicted and doubles the time:
    // 1 KiB decodes in 1.4 µs without it and in 3.0 µs with it.
    out[at] = cell >>> 8;
    out[at + 1] = cell >>> 16;
    at += cell & 3;
    seen |= cell;
  }
  decodedControl = (seen & CONTROL) !== 0;
  return seen & FAULT || !(cell & MAY_END) ? -1 : at;
}
