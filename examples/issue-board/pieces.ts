/** The same bytes in pieces of one size. However they arrive, they are stored in few pieces. */
export async function* inPieces(
  body: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let piece = new Uint8Array(size);
  let filled = 0;
  for await (const arrived of body) {
    for (let at = 0; at < arrived.length; ) {
      const part = arrived.subarray(at, at + size - filled);
      piece.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < size) continue;
      yield piece;
      piece = new Uint8Array(size);
      filled = 0;
    }
  }
  if (filled > 0) yield piece.slice(0, filled);
}
