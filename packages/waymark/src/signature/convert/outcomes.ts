import type { Converter, Note } from "./converter.ts";

/** What a type has made of a part of a document. */
interface Outcome {
  readonly result: unknown;
  /** Why it does not fit, with ways that begin at the part. */
  readonly notes: readonly Note[];
}

/**
 * What types have made of the parts of one request's documents, kept while members of unions are tried. Members that
 * contain the same type would else try each part in all combinations: 3^n for a chain of n objects and three members.
 * With them, every type looks at every part once.
 */
export class Outcomes {
  #tried = 0;
  #types = 0;
  readonly #tables = new Map<number, Map<object, Outcome>>();

  /** A converter of JSON values that looks at each part once while a union is trying its members. */
  remembering(convert: Converter["fromJson"]): Converter["fromJson"] {
    const type = this.#types++;
    return (value, notes) => {
      if (this.#tried === 0 || typeof value !== "object" || value === null) return convert(value, notes);
      const known = this.#tables.get(type)?.get(value);
      if (known) {
        // what contains the value puts its own way before these
        notes.push(...copies(known.notes));
        return known.result;
      }
      const start = notes.length;
      const result = convert(value, notes);
      this.#tableOf(type).set(value, { result, notes: copies(notes.slice(start)) });
      return result;
    };
  }

  #tableOf(type: number): Map<object, Outcome> {
    let table = this.#tables.get(type);
    if (!table) {
      table = new Map();
      this.#tables.set(type, table);
    }
    return table;
  }

  /** Begins the attempts of a union at one value. */
  begin(): void {
    this.#tried++;
  }

  end(): void {
    this.#tried--;
  }

  /** Forgets the request. */
  clear(): void {
    this.#tried = 0;
    if (this.#tables.size > 0) this.#tables.clear();
  }
}

const copies = (notes: readonly Note[]): Note[] => notes.map((note) => ({ ...note }));
