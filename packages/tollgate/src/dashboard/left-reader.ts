import type { Entry } from "../protocol/messages.ts";
import type { Left } from "./messages.ts";
import type { RuleIndex } from "./rule-index.ts";

/** Reads a counter without counting. Undefined if it cannot be read. */
export type ReadLeft = (domain: string, entries: readonly Entry[]) => Promise<Left | undefined>;

/** Counters that are read in one second. */
const MAX_READ = 50;

/**
 * Reads the counters of the rules on the screens that have only one. Answers with the last value at once, so that a slow
 * store delays no frame. At most one read of each rule is under way.
 */
export class LeftReader {
  readonly #read: ReadLeft;
  #index: RuleIndex | undefined;
  #known = new Map<number, Left>();
  readonly #wanted = new Set<number>();
  #reading = false;

  constructor(read: ReadLeft) {
    this.#read = read;
  }

  /** The last value. The next refresh reads it again. */
  get(index: RuleIndex, number: number): Left | undefined {
    if (this.#index !== index) {
      this.#index = index;
      this.#known.clear();
      this.#wanted.clear();
    }
    if (this.#wanted.size < MAX_READ) this.#wanted.add(number);
    return this.#known.get(number);
  }

  /** Forgets all values: the store does not answer. */
  forget(): void {
    this.#known.clear();
    this.#wanted.clear();
  }

  /** Reads the counters that were asked for since the last call, unless a read is under way. */
  async refresh(): Promise<void> {
    const index = this.#index;
    if (this.#reading || index === undefined || this.#wanted.size === 0) return;
    const numbers = [...this.#wanted];
    this.#wanted.clear();
    this.#reading = true;
    try {
      const values = await Promise.all(numbers.map((number) => this.#one(index, number)));
      if (this.#index !== index) return;
      this.#known = new Map(
        numbers.flatMap((number, at) => (values[at] === undefined ? [] : [[number, values[at]] as const])),
      );
    } finally {
      this.#reading = false;
    }
  }

  async #one(index: RuleIndex, number: number): Promise<Left | undefined> {
    const { nodes } = index.ruleSet;
    const entries = nodes.isUnlimited(number) ? undefined : nodes.fixedEntries(number);
    if (entries === undefined) return undefined;
    return this.#read(nodes.domain(number), entries).catch(() => undefined);
  }
}
