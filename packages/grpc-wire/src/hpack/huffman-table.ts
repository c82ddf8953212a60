import { codeLengths, codes, EOS } from "./huffman-code.ts";

// The bits of a cell: 0-1 number of output octets, 2 fault, 3 an output octet is NUL, CR or LF, 4 a string may end here,
// 8-15 first output octet, 16-23 second output octet.
export const FAULT = 1 << 2;
export const CONTROL = 1 << 3;
export const MAY_END = 1 << 4;

/** 256 rows, one for each state, by 256 bytes. */
export interface HuffmanTable {
  /** The next row: the position of its first cell. Each step waits for the last one's row, so the rows are in a small array. */
  readonly rows: Uint16Array;
  readonly cells: Int32Array;
}

/**
 * Builds the decoder's table: the states are the inner nodes of the code tree (384 KiB, about 3 ms). A string may end in a
 * state that at most 7 bits of padding, all ones, reach (RFC 7541 section 5.2).
 */
export function buildTable(): HuffmanTable {
  const children = buildTree();
  const mayEnd = new Set<number>();
  for (let node = 0, depth = 0; depth < 8; depth++) {
    mayEnd.add(node);
    node = children[node * 2 + 1]!;
  }
  const rows = new Uint16Array(256 * 256);
  const cells = new Int32Array(256 * 256);
  for (let state = 0; state < 256; state++) {
    for (let byte = 0; byte < 256; byte++) {
      let node = state;
      let cell = 0;
      let count = 0;
      for (let bit = 7; bit >= 0 && !(cell & FAULT); bit--) {
        const child = children[node * 2 + ((byte >>> bit) & 1)]!;
        if (child < 0x1000) node = child;
        else {
          const octet = child - 0x1000;
          if (octet === EOS) cell |= FAULT;
          cell |= octet << (8 + 8 * count++);
          if (octet === 0 || octet === 0x0a || octet === 0x0d) cell |= CONTROL;
          node = 0;
        }
      }
      rows[state * 256 + byte] = node * 256;
      cells[state * 256 + byte] = cell & FAULT ? FAULT : cell | count | (mayEnd.has(node) ? MAY_END : 0);
    }
  }
  return { rows, cells };
}

/** Returns the children of each inner node of the code tree. A value below 0x1000 is an inner node, others are 0x1000 + symbol. */
function buildTree(): number[] {
  const children: number[] = [0, 0];
  let nodes = 1;
  for (let symbol = 0; symbol <= EOS; symbol++) {
    let node = 0;
    for (let bit = codeLengths[symbol]! - 1; bit >= 0; bit--) {
      const side = node * 2 + ((codes[symbol]! >>> bit) & 1);
      if (bit === 0) children[side] = 0x1000 + symbol;
      else {
        if (!children[side]) {
          children[side] = nodes++;
          children.push(0, 0);
        }
        node = children[side]!;
      }
    }
  }
  return children;
}
