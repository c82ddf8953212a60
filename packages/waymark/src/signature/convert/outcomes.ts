import type { Note } from "./converter.ts";

/** What a type that contains itself has made of a part of a document. */
export interface Outcome {
  readonly result: unknown;
  /** Why it does not fit, with ways that begin at the part. */
  readonly notes: readonly Note[];
}

/**
 * The outcomes of one request, kept while members of unions are tried. Members that contain the union again would
 * else try each part of a document in all combinations: 3^n for a chain of n objects and three members. With them,
 * every type looks at every part once.
 */
export class Outcomes {
  #tried = 0;
  readonly #tables = new Map<string, Map<object, Outcome>>();

  /** Whether the value that is being converted may be converted again: a union is trying its members. */
  get isKeeping(): boolean {
    return this.#tried > 0;
  }

  /** Begins the attempts of a union at one value. */
  begin(): void {
    this.#tried++;
  }

  end(): void {
    this.#tried--;
  }

  find(type: string, part: object): Outcome | undefined {
    return this.#tables.get(type)?.get(part);
  }

  keep(type: string, part: object, outcome: Outcome): void {
    let table = this.#tables.get(type);
    if (!table) {
      table = new Map();
      this.#tables.set(type, table);
    }
    table.set(part, outcome);
  }

  /** Forgets the request. */
  clear(): void {
    this.#tried = 0;
    if (this.#tables.size > 0) this.#tables.clear();
  }
}
