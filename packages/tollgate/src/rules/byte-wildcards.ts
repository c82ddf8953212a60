import type { Pattern } from "./pattern.ts";

/** The texts before the first and after the last `*`, as UTF-8. */
interface Affixes<Target> {
  readonly prefix: Uint8Array;
  readonly suffix: Uint8Array;
  readonly target: Target;
}

/** Few wildcards without a text between two `*`. Compares them with a value in place, without making a string. */
export class ByteWildcards<Target> {
  readonly #affixes: readonly Affixes<Target>[];

  private constructor(affixes: readonly Affixes<Target>[]) {
    this.#affixes = affixes;
  }

  /** @param entries most specific first. Undefined if one of them has a text between two `*`. */
  static of<Target>(
    entries: readonly { readonly pattern: Pattern; readonly target: Target }[],
  ): ByteWildcards<Target> | undefined {
    if (entries.some(({ pattern }) => pattern.middles.length > 0)) return undefined;
    return new ByteWildcards(
      entries.map(({ pattern: { prefix, suffix }, target }) => ({
        prefix: Buffer.from(prefix),
        suffix: Buffer.from(suffix),
        target,
      })),
    );
  }

  /** Returns the target of the most specific pattern that matches `bytes[start..end)`. */
  find(bytes: Uint8Array, start: number, end: number): Target | undefined {
    const affixes = this.#affixes;
    for (let index = 0; index < affixes.length; index++) {
      const { prefix, suffix, target } = affixes[index]!;
      // Each `*` matches the empty text, and whole characters are equal exactly if their bytes are.
      const fits = prefix.length + suffix.length <= end - start;
      if (fits && isAt(prefix, bytes, start) && isAt(suffix, bytes, end - suffix.length)) return target;
    }
    return undefined;
  }
}

function isAt(text: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let at = 0; at < text.length; at++) if (text[at] !== bytes[start + at]) return false;
  return true;
}
