/** The first and the last byte. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The range of a request for a representation of some bytes (RFC 9110 section 14.2). Undefined: send everything, which is
 * the answer to a malformed range, another unit, and several ranges. A client that asks for many overlapping ranges would
 * otherwise get many times the file.
 */
export function rangeOf(header: string, size: number): ByteRange | "unsatisfiable" | undefined {
  const found = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(header);
  if (found === null) return undefined;
  const [, first, last] = found as unknown as [string, string, string];
  if (first === "") {
    if (last === "") return undefined;
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return undefined;
  if (start >= size) return "unsatisfiable";
  return { start, end: last === "" ? size - 1 : Math.min(Number(last), size - 1) };
}
