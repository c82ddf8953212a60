/** HPACK by an independent implementation, to hold ours against. */
import hpack from "hpack.js";

type Fields = [name: string, value: string][];

/** RFC 9113, 6.5.2: the initial value of SETTINGS_HEADER_TABLE_SIZE. */
const TABLE_SIZE = 4096;

// The library looks up texts of headers in plain objects, and would take `constructor` for an entry of the static table.
const { map } = hpack["static-table"];
Object.setPrototypeOf(map, null);
for (const { values } of Object.values(map)) Object.setPrototypeOf(values, null);

/** One side of a connection: `encode` and `decode` each keep a dynamic table of their own. Octets are latin1. */
export class HpackPeer {
  readonly #compressor = hpack.compressor.create({ table: { maxSize: TABLE_SIZE } });
  readonly #decompressor = hpack.decompressor.create({ table: { maxSize: TABLE_SIZE } });

  /** Names that a table does not hold, and all values, are Huffman coded; every literal is added to the table. */
  encode(fields: Fields): Buffer {
    this.#compressor.write(fields.map(([name, value]) => ({ name, value })));
    return (this.#compressor.read() as Buffer | null) ?? Buffer.alloc(0);
  }

  /** @throws {Error} for a block that is not valid */
  decode(block: Buffer): Fields {
    this.#decompressor.write(block);
    this.#decompressor.execute();
    const fields: Fields = [];
    for (let field = this.#decompressor.read(); field !== null; field = this.#decompressor.read()) {
      fields.push([field.name, field.value]);
    }
    return fields;
  }
}
