import { createHmac } from "node:crypto";
import { printable } from "../text/printable.ts";
import { copyOf } from "./text-memory.ts";

/** The entries of a descriptor as operators see them. */
export type KeyEntries = readonly (readonly [key: string, value: string])[];

export interface KeyMaskOptions {
  /** `TOP_KEYS_MASK`: keys whose values are masked; `*` for all keys. */
  readonly keys: readonly string[];
  /** `TOP_KEYS_MASK_STYLE` */
  readonly style: "hash" | "hide";
  /** `TOP_KEYS_MASK_SALT` */
  readonly salt: string;
}

/** Characters of a value that are shown. */
const LONGEST = 256;
const HIDDEN = "*****";
const HASH_DIGITS = 16;

/** Prepares entries of requests for operators: top keys, the log of decisions, the dashboard. Values may be personal data. */
export class KeyMask {
  readonly #keys: ReadonlySet<string>;
  readonly #all: boolean;
  readonly #hides: boolean;
  readonly #salt: string;

  constructor({ keys, style, salt }: KeyMaskOptions) {
    this.#keys = new Set(keys);
    this.#all = keys.includes("*");
    this.#hides = style === "hide";
    this.#salt = salt;
  }

  /** Masks values, cuts long texts, and escapes bytes that are not UTF-8. */
  entries(entries: readonly { readonly key: string; readonly value: string }[]): KeyEntries {
    return entries.map(({ key, value }) => [bounded(key), this.#value(key, value)]);
  }

  #value(key: string, value: string): string {
    if (!this.#all && !this.#keys.has(key))
      // The hash tells long values apart.
      return value.length > LONGEST ? `${bounded(value)}${this.#hash(key, value)}` : bounded(value);
    return this.#hides ? HIDDEN : this.#hash(key, value);
  }

  #hash(key: string, value: string): string {
    // The length of the key keeps `ab` with `c` apart from `a` with `bc`.
    const hmac = createHmac("sha256", this.#salt).update(`${key.length}:${key}`).update(value);
    return `#${hmac.digest("hex").slice(0, HASH_DIGITS)}`;
  }
}

function bounded(text: string): string {
  return text.length > LONGEST ? `${printable(copyOf(text, LONGEST))}...` : printable(text);
}
