/** Up to this length a loop is faster than `set`, because `set` requires a view of the source. */
const SHORT = 64;

/** Copies `bytes[start, end)` into new memory. */
export function copyOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const copy = new Uint8Array(end - start);
  if (copy.length > SHORT) copy.set(bytes.subarray(start, end));
  else for (let at = start; at < end; at++) copy[at - start] = bytes[at]!;
  return copy;
}
