/** An item that waits. */
interface Waiting<Item> {
  readonly item: Item;
  readonly bytes: number;
}

/** Sorts items that are almost in order: threads write their decisions in batches. */
export class ReorderBuffer<Item extends { readonly time: number }> {
  readonly #onItem: (item: Item) => void;
  readonly #maxItems: number;
  readonly #maxBytes: number;
  #waiting: Waiting<Item>[] = [];
  #bytes = 0;
  #last = Number.NEGATIVE_INFINITY;
  #late = 0;

  /**
   * @param maxItems an item that comes at most half of this number too late is sorted into its place
   * @param maxBytes of all items that wait, by the sizes that `add` gets
   */
  constructor(maxItems: number, maxBytes: number, onItem: (item: Item) => void) {
    this.#maxItems = maxItems;
    this.#maxBytes = maxBytes;
    this.#onItem = onItem;
  }

  /** Items that came too late for their place. */
  get late(): number {
    return this.#late;
  }

  add(item: Item, bytes: number): void {
    this.#waiting.push({ item, bytes });
    this.#bytes += bytes;
    if (this.#waiting.length >= this.#maxItems || this.#bytes > this.#maxBytes)
      this.#release(Math.ceil(this.#waiting.length / 2));
  }

  /** Passes on all items. */
  end(): void {
    this.#release(this.#waiting.length);
  }

  #release(count: number): void {
    // The sort is stable, and fast for items that are almost in order.
    const sorted = this.#waiting.sort((a, b) => a.item.time - b.item.time);
    this.#waiting = sorted.slice(count);
    for (let index = 0; index < count; index++) {
      const { item, bytes } = sorted[index]!;
      this.#bytes -= bytes;
      if (item.time < this.#last) this.#late++;
      else this.#last = item.time;
      this.#onItem(item);
    }
  }
}
