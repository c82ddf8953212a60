/** The npm package `hpack`, which brings no types: octets as latin1 characters. */
declare module "hpack" {
  // biome-ignore lint/style/noDefaultExport: that is what the package has
  export default class HPACK {
    encode(fields: [name: string, value: string][]): Buffer;
    decode(block: Buffer): [name: string, value: string][];
    setTableSize(size: number): void;
  }
}
