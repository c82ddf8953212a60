/** The characters of a text in memory: V8 takes two bytes for each where one of them is above U+00FF. */
export function stringBytes(text: string): number {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0xff) return text.length * 2;
  return text.length;
}

/** The first `units` UTF-16 units of a text, in memory of their own: V8's `slice` would keep all of `text` alive. */
export function copyOf(text: string, units: number): string {
  return Buffer.from(text.slice(0, units), "utf16le").toString("utf16le");
}
