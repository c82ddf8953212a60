import { endOfString, QUOTE } from "../../http/json-members.ts";

/**
 * The notation of the numbers in a JSON document. `JSON.parse` returns the same double for `1e20` and
 * `100000000000000000000`, but only the second is an exact integer. The text is scanned only when such a double is
 * converted.
 */
export class JsonNumbers {
  #source: string | Uint8Array | undefined = undefined;
  #integers: ReadonlySet<number> | undefined = undefined;

  /** The text of the document whose values are converted next. Undefined if only its values are available. */
  set source(source: string | Uint8Array | undefined) {
    this.#source = source;
    this.#integers = undefined;
  }

  get source(): string | Uint8Array | undefined {
    return this.#source;
  }

  /** Whether the document writes a double beyond 2^53 as an integer, without fraction and exponent. */
  hasInteger(value: number): boolean {
    // Without a text, JavaScript's notation counts.
    if (this.#source === undefined) return /^-?\d+$/.test(String(value));
    this.#integers ??= largeIntegers(
      typeof this.#source === "string" ? this.#source : new TextDecoder("latin1").decode(this.#source),
    );
    return this.#integers.has(Math.abs(value));
  }
}

/** A number without its sign. */
const NUMBER = /\d[\d.eE+-]*/y;
/** 2^53 has 16 digits. */
const LONG_INTEGER = /^\d{16,}$/;

/** The integers beyond 2^53 in a valid JSON text, without their signs. */
function largeIntegers(text: string): ReadonlySet<number> {
  const found = new Set<number>();
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at + 1);
    else if (code >= 0x30 && code <= 0x39) {
      NUMBER.lastIndex = at;
      const [written] = NUMBER.exec(text)!;
      at += written.length - 1;
      if (!LONG_INTEGER.test(written)) continue;
      const value = Number(written);
      if (!Number.isSafeInteger(value)) found.add(value);
    }
  }
  return found;
}
