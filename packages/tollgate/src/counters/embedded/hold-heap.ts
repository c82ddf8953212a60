/** The holds of one shard in a binary heap: the one that stops counting first is first. */
import { HEAP_AT, HEAP_SIZE, type HoldBlock, SLOT_WORDS, UNTIL } from "./hold-layout.ts";

export class HoldHeap {
  readonly #words: Float64Array;
  readonly #ints: Int32Array;
  readonly #sizeAt: number;
  /** Int32 position before the first place. */
  readonly #at: number;
  readonly #slotsAt: number;

  /** @param at start of the shard @param slotsAt position of slot 0 */
  constructor(block: HoldBlock, at: number, slotsAt: number) {
    this.#words = block.words;
    this.#ints = block.ints;
    this.#sizeAt = at + HEAP_SIZE;
    this.#at = at + block.heapAt - 1;
    this.#slotsAt = slotsAt;
  }

  /** 0 if the heap is empty. */
  get first(): number {
    return this.#ints[this.#sizeAt] === 0 ? 0 : this.#ints[this.#at + 1]!;
  }

  add(slot: number): void {
    this.#ints[this.#sizeAt]! += 1;
    this.#rise(slot, this.#ints[this.#sizeAt]!);
  }

  /** Moves a slot that has got a later instant. */
  sink(slot: number): void {
    this.#sink(slot, this.#ints[this.#placeOf(slot)]!);
  }

  remove(slot: number): void {
    const ints = this.#ints;
    const place = ints[this.#placeOf(slot)]!;
    const size = ints[this.#sizeAt]!;
    ints[this.#sizeAt] = size - 1;
    const last = ints[this.#at + size]!;
    if (last === slot) return;
    if (this.#instant(last) < this.#instant(slot)) this.#rise(last, place);
    else this.#sink(last, place);
  }

  #rise(slot: number, from: number): void {
    const instant = this.#instant(slot);
    let place = from;
    while (place > 1) {
      const parent = this.#ints[this.#at + (place >> 1)]!;
      if (this.#instant(parent) <= instant) break;
      this.#put(parent, place);
      place >>= 1;
    }
    this.#put(slot, place);
  }

  #sink(slot: number, from: number): void {
    const ints = this.#ints;
    const size = ints[this.#sizeAt]!;
    const instant = this.#instant(slot);
    let place = from;
    for (let child = place * 2; child <= size; child = place * 2) {
      if (child < size && this.#instant(ints[this.#at + child + 1]!) < this.#instant(ints[this.#at + child]!))
        child += 1;
      const below = ints[this.#at + child]!;
      if (instant <= this.#instant(below)) break;
      this.#put(below, place);
      place = child;
    }
    this.#put(slot, place);
  }

  #put(slot: number, place: number): void {
    this.#ints[this.#at + place] = slot;
    this.#ints[this.#placeOf(slot)] = place;
  }

  #placeOf(slot: number): number {
    return this.#slotsAt + slot * SLOT_WORDS * 2 + HEAP_AT;
  }

  #instant(slot: number): number {
    return this.#words[this.#slotsAt / 2 + slot * SLOT_WORDS + UNTIL]!;
  }
}
