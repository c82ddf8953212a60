/** The npm package `hpack.js`, which has no types: octets as latin1 characters. */
declare module "hpack.js" {
  import type { Duplex } from "node:stream";

  interface Field {
    readonly name: string;
    readonly value: string;
  }
  interface Options {
    readonly table: { readonly maxSize: number };
  }
  interface Compressor extends Duplex {
    write(fields: readonly Field[]): boolean;
  }
  interface Decompressor extends Duplex {
    /** @throws {Error} for a block that is not valid */
    execute(): void;
  }
  /** Indexes of the static table by name and value. */
  type StaticIndex = Record<string, { readonly values: Record<string, number> }>;
  const hpack: {
    readonly "static-table": { readonly map: StaticIndex };
    readonly compressor: { create(options: Options): Compressor };
    readonly decompressor: { create(options: Options): Decompressor };
  };
  // biome-ignore lint/style/noDefaultExport: the package exports one object
  export default hpack;
}
