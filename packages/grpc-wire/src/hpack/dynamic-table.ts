import type { HeaderField } from "./field.ts";

/** The decoder's dynamic table (RFC 7541 section 2.3.2): a ring buffer with a maximum total size of its fields. */
export class DynamicTable {
  #ring: (HeaderField | undefined)[] = [];
  #mask = -1;
  /** The slot of the next field. */
  #next = 0;
  #count = 0;
  #size = 0;
  #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get count(): number {
    return this.#count;
  }

  get size(): number {
    return this.#size;
  }

  /** Returns the field at `index`, or undefined beyond the end. Index 0 is the newest field. */
  get(index: number): HeaderField | undefined {
    return index < this.#count ? this.#ring[(this.#next - 1 - index) & this.#mask] : undefined;
  }

  add(field: HeaderField): void {
    this.#evictTo(this.#capacity - field.size);
    // A field larger than the table empties the table. That is not an error (RFC 7541 section 4.4).
    if (field.size > this.#capacity) return;
    if (this.#count > this.#mask) this.#grow();
    this.#ring[this.#next] = field;
    this.#next = (this.#next + 1) & this.#mask;
    this.#count += 1;
    this.#size += field.size;
  }

  resize(capacity: number): void {
    this.#capacity = capacity;
    this.#evictTo(capacity);
  }

  #evictTo(limit: number): void {
    while (this.#size > limit && this.#count > 0) {
      const oldest = (this.#next - this.#count) & this.#mask;
      this.#size -= this.#ring[oldest]!.size;
      this.#ring[oldest] = undefined;
      this.#count -= 1;
    }
  }

  #grow(): void {
    const ring = new Array<HeaderField | undefined>(this.#mask < 0 ? 16 : (this.#mask + 1) * 2);
    for (let index = 0; index < this.#count; index++) ring[this.#count - 1 - index] = this.get(index);
    this.#ring = ring;
    this.#mask = ring.length - 1;
    this.#next = this.#count;
  }
}
