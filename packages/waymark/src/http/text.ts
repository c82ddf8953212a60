/** Node's own function, where it exists: the fastest way to count bytes. Named without an import, for other runtimes. */
const counted = (globalThis as { Buffer?: { byteLength(text: string): number } }).Buffer;

/** The number of bytes of a text, or of bytes. */
export const byteLength: (body: string | Uint8Array) => number =
  counted === undefined
    ? encodedLength
    : (body) => (typeof body === "string" ? counted.byteLength(body) : body.length);

export function encodedLength(body: string | Uint8Array): number {
  return typeof body === "string" ? new TextEncoder().encode(body).length : body.length;
}
