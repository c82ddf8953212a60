/** A name of RFC 9110 section 5.1. */
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
/** A control character could end the header and begin another one. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The headers of an answer, changed in place. A flat list: name, value, name, value. Names are in lower case. */
export class AnswerHeaders implements Iterable<readonly [string, string]> {
  readonly #flat: string[];

  constructor(flat: string[]) {
    this.#flat = flat;
  }

  /** The values of a header, joined by `, `. */
  get(name: string): string | null {
    const lower = name.toLowerCase();
    let found: string | null = null;
    for (let at = 0; at < this.#flat.length; at += 2)
      if (this.#flat[at] === lower)
        found = found === null ? this.#flat[at + 1]! : `${found}, ${this.#flat[at + 1]}`;
    return found;
  }

  /** Whether the answer has the header. */
  has(name: string): boolean {
    return this.get(name) !== null;
  }

  /** Replaces every value of the header. */
  set(name: string, value: string): void {
    this.replace(checked(name, value), value);
  }

  /**
   * Like {@link set}, for a name in lower case and a value that are known to be valid.
   * @internal
   */
  replace(lower: string, value: string): void {
    const at = this.#indexOf(lower);
    if (at === -1) this.#flat.push(lower, value);
    else {
      this.#flat[at + 1] = value;
      this.#remove(lower, at + 2);
    }
  }

  /** Adds a line to the header. */
  append(name: string, value: string): void {
    this.#flat.push(checked(name, value), value);
  }

  /** Removes all lines of the header. */
  delete(name: string): void {
    this.#remove(name.toLowerCase(), 0);
  }

  /** Adds a name to `vary`, unless it is there. */
  vary(name: string): void {
    const names = (this.get("vary") ?? "").split(",").map((each) => each.trim().toLowerCase());
    if (names.includes("*") || names.includes(name.toLowerCase())) return;
    this.set("vary", names[0] === "" ? name : `${this.get("vary")}, ${name}`);
  }

  /** Names in lower case with their values, one pair for each line. */
  *[Symbol.iterator](): Iterator<readonly [string, string]> {
    for (let at = 0; at < this.#flat.length; at += 2) yield [this.#flat[at]!, this.#flat[at + 1]!];
  }

  #indexOf(lower: string): number {
    for (let at = 0; at < this.#flat.length; at += 2) if (this.#flat[at] === lower) return at;
    return -1;
  }

  #remove(lower: string, from: number): void {
    for (let at = this.#flat.length - 2; at >= from; at -= 2)
      if (this.#flat[at] === lower) this.#flat.splice(at, 2);
  }
}

/**
 * Checks a name that many answers will have. Returns it in lower case.
 * @throws {TypeError} if it is not the name of a header
 */
export function headerName(name: string): string {
  return checked(name, "");
}

/** Names that were checked before. The same few names are set for every answer. */
const KNOWN = new Set<string>();
const MOST_KNOWN = 200;

function checked(name: string, value: string): string {
  if (!VALUE.test(value)) throw new TypeError(badValue(name, value));
  if (KNOWN.has(name)) return name;
  const lower = name.toLowerCase();
  if (!NAME.test(lower))
    throw new TypeError(`${JSON.stringify(name.slice(0, 100))} is not the name of a header`);
  if (KNOWN.size < MOST_KNOWN) KNOWN.add(lower);
  return lower;
}

function badValue(name: string, value: string): string {
  return `the header ${name.slice(0, 100)} cannot carry the value ${JSON.stringify(String(value).slice(0, 100))}`;
}
