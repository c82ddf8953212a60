import type { Converter, Note } from "./converter.ts";

/** The result of converting one JSON value to one type. */
interface Outcome {
  readonly result: unknown;
  /** The reasons why the value does not fit. Paths start at the value. */
  readonly notes: readonly Note[];
}

/**
 * Results of conversions by type and JSON value, kept for one request while a union tries its members. Without them,
 * members that contain the same type would convert each value in all combinations: 3^n times for a chain of n objects
 * and three members. With them, each type converts each value once.
 */
export class Outcomes {
  #tried = 0;
  #types = 0;
  readonly #tables = new Map<number, Map<object, Outcome>>();

  /** Wraps a conversion so that it runs once for each value while a union tries its members. */
  remembering(convert: Converter["fromJson"]): Converter["fromJson"] {
    const type = this.#types++;
    return (value, notes) => {
      if (this.#tried === 0 || typeof value !== "object" || value === null) return convert(value, notes);
      const known = this.#tables.get(type)?.get(value);
      if (known) {
        // Containers prefix the paths of these notes.
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

  /** Called before a union tries its members. */
  begin(): void {
    this.#tried++;
  }

  end(): void {
    this.#tried--;
  }

  /** Drops the results of the last request. */
  clear(): void {
    this.#tried = 0;
    if (this.#tables.size > 0) this.#tables.clear();
  }
}

const copies = (notes: readonly Note[]): Note[] => notes.map((note) => ({ ...note }));
