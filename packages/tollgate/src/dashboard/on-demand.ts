/** Values that are read in one second. */
const MAX_READ = 50;

/**
 * Values that viewers ask for each second. Answers with the last value at once, so that a slow source delays no frame, and
 * reads what was asked for with the next refresh. One read of all is under way at a time.
 */
export class OnDemand<Key, Value> {
  readonly #read: (key: Key) => Promise<Value | undefined>;
  #known = new Map<Key, Value>();
  readonly #wanted = new Set<Key>();
  #reading = false;
  #generation = 0;

  /** @param read a failure is as good as no value */
  constructor(read: (key: Key) => Promise<Value | undefined>) {
    this.#read = read;
  }

  /** The last value. The next refresh reads it again. */
  get(key: Key): Value | undefined {
    if (this.#wanted.size < MAX_READ) this.#wanted.add(key);
    return this.#known.get(key);
  }

  /** Forgets all values, also those of a read that is under way. */
  forget(): void {
    this.#generation++;
    this.#known.clear();
    this.#wanted.clear();
  }

  /** Reads the values that were asked for since the last call, unless a read is under way. */
  async refresh(): Promise<void> {
    if (this.#reading || this.#wanted.size === 0) return;
    const keys = [...this.#wanted];
    const generation = this.#generation;
    this.#wanted.clear();
    this.#reading = true;
    const known = new Map<Key, Value>();
    await Promise.all(
      keys.map(async (key) => {
        const value = await this.#read(key).catch(() => undefined);
        if (value !== undefined) known.set(key, value);
      }),
    );
    this.#reading = false;
    if (generation === this.#generation) this.#known = known;
  }
}
