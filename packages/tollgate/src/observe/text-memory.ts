/** Bytes of a text in V8's memory: two for each character if one of them is above U+00FF, else one. */
export function stringBytes(text: string): number {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0xff) return text.length * 2;
  return text.length;
}

/** Copies the first `units` UTF-16 units of a text. V8's `slice` alone would keep all of `text` alive. */
export function copyOf(text: string, units: number): string {
  return Buffer.from(text.slice(0, units), "utf16le").toString("utf16le");
}
