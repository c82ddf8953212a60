/**
 * The holds of the counters of one shard. All methods run with the shard's lock held, and none of them throws. Slots
 * alone are the truth: {@link Holds.rebuild} recreates everything else after a thread ended in between.
 */
import { REMEMBERED, type Token } from "../reservations.ts";
import { HoldHeap } from "./hold-heap.ts";
import {
  ALL,
  AMOUNT,
  BUCKETS_AT,
  COMMITS,
  END,
  FREE,
  FREE_LIST,
  HASH,
  HEADER_SEEDS,
  type HoldBlock,
  holdShardAt,
  KEY,
  KIND,
  Kind,
  LEDGER,
  NEXT,
  OPEN,
  QUEUE_FIRST,
  QUEUE_LAST,
  QUEUE_NEXT,
  QUEUED,
  RESTORED,
  SEEDS,
  SLOT_WORDS,
  UNTIL,
  USED,
} from "./hold-layout.ts";
import { DIGEST_INTS, type Digest } from "./key-digest.ts";

/** The largest share of the slots that remember commits. */
const COMMITTED_SHARE = 1 / 2;

/** The holds of one counter. */
export interface Held {
  held: number;
  holds: number;
  own: number;
  isKnown: boolean;
  isCommitted: boolean;
  expired: number;
  restored: number;
  /** The slot of the ledger; 0 for none. `slot` is that of the own hold. */
  ledger: number;
  slot: number;
}

/** A hold to be added. Instants are milliseconds since the epoch. */
export interface NewHold {
  readonly amount: number;
  /** The instant at which it stops counting. */
  readonly until: number;
  /** The end of its time to live. */
  readonly end: number;
}

/** One slot, for a snapshot. */
export interface ShownHold {
  readonly kind: number;
  /** See `hold-layout.ts`. */
  readonly key: readonly number[];
  readonly ledger: readonly number[];
  /** Hash of the counter's key. */
  readonly hash: number;
  readonly amount: number;
  readonly until: number;
  readonly end: number;
}

export class Holds {
  /** The seeds of the digests of keys. */
  readonly seeds: Int32Array;
  readonly #words: Float64Array;
  readonly #ints: Int32Array;
  /** Int32 positions. */
  readonly #at: number;
  readonly #slotsAt: number;
  readonly #slots: number;
  readonly #mask: number;
  readonly #heap: HoldHeap;
  /** The key of a hold or a commit. */
  readonly #key = new Int32Array(DIGEST_INTS);

  constructor(block: HoldBlock, shard: number) {
    this.seeds = block.ints.subarray(HEADER_SEEDS, HEADER_SEEDS + SEEDS);
    this.#words = block.words;
    this.#ints = block.ints;
    this.#at = holdShardAt(block, shard);
    this.#slotsAt = this.#at + block.slotsAt - SLOT_WORDS * 2;
    this.#slots = block.slots;
    this.#mask = block.buckets - 1;
    this.#heap = new HoldHeap(block, this.#at, this.#slotsAt);
  }

  /**
   * Reads the holds of a counter at an instant, after it has ended those that no longer count.
   * @param token of the own hold; undefined for a new one
   */
  read(counter: Digest, token: Token | undefined, now: number, held: Held): void {
    this.#expire(now);
    const ledger = this.#find(counter, true);
    held.ledger = ledger;
    held.slot = held.held = held.holds = held.own = held.expired = held.restored = 0;
    held.isKnown = held.isCommitted = false;
    if (ledger !== 0) {
      const word = this.#word(ledger);
      held.held = this.#words[word + AMOUNT]!;
      held.holds = this.#ints[word * 2 + OPEN]!;
    }
    if (token === undefined) return;
    const own = this.#find(this.#keyOf(counter, token), false);
    held.slot = own;
    if (own === 0) return;
    const word = this.#word(own);
    const kind = this.#ints[word * 2 + KIND];
    if (kind === Kind.COMMITTED) {
      held.isCommitted = this.#words[word + END]! > now;
      // The queue drops it later. The next commit gets a mark of its own, which is found first.
      if (!held.isCommitted) held.slot = 0;
      return;
    }
    held.isKnown = true;
    if (kind === Kind.HOLD) held.own = this.#words[word + AMOUNT]!;
  }

  /** Passes on the hits of ended and of restored holds, once. Call it right after `read`. */
  report(held: Held): void {
    const { ledger } = held;
    if (ledger === 0) return;
    const word = this.#word(ledger);
    held.expired = this.#words[word + END]!;
    if (this.#ints[word * 2 + RESTORED] === 1) {
      this.#ints[word * 2 + RESTORED] = 0;
      held.restored = held.held + held.expired;
    }
    if (held.expired > 0) {
      this.#words[word + END] = 0;
      if (this.#dropUnused(ledger)) held.ledger = 0;
    }
  }

  /** The hits of a counter's open holds. */
  sumOf(counter: Digest, now: number): number {
    this.#expire(now);
    const ledger = this.#find(counter, true);
    return ledger === 0 ? 0 : this.#words[this.#word(ledger) + AMOUNT]!;
  }

  /** Whether so many holds and their ledgers fit. Drops the oldest commits for them. */
  hasRoom(holds: number): boolean {
    const ints = this.#ints;
    while (this.#free() < holds * 2 && ints[this.#at + QUEUE_FIRST] !== 0) this.#dropOldest();
    return this.#free() >= holds * 2;
  }

  /**
   * Adds a hold. Call `hasRoom` before.
   * @param known the slot of its ledger, if `read` has found one
   */
  add(counter: Digest, token: Token, { amount, until, end }: NewHold, known = 0): void {
    // Making room may have dropped it.
    let ledger = known !== 0 && this.#isAt(known, counter) ? known : this.#find(counter, true);
    if (ledger === 0) {
      ledger = this.#newSlot(counter);
      this.#link(ledger, Kind.LEDGER);
    }
    const slot = this.#newSlot(this.#keyOf(counter, token));
    const word = this.#word(slot);
    this.#words[word + AMOUNT] = amount;
    this.#words[word + UNTIL] = until;
    this.#words[word + END] = end;
    this.#ints[word * 2 + LEDGER] = ledger;
    this.#link(slot, Kind.HOLD);
    this.#count(ledger, 1, 1, amount);
    this.#heap.add(slot);
  }

  /**
   * Ends a hold, and remembers that its reservation was committed: the hold's slot becomes the mark of the commit.
   * @param slot of the hold, or of an earlier commit; 0 for none
   */
  end(counter: Digest, token: Token, now: number, slot: number): void {
    const until = now + REMEMBERED;
    if (this.#ints[this.#at + COMMITS]! >= this.#slots * COMMITTED_SHARE) this.#dropOldest();
    if (slot === 0) {
      if (this.hasRoom(1)) this.#remember(counter, token, until);
      return;
    }
    const at = this.#int(slot);
    const kind = this.#ints[at + KIND];
    if (kind !== Kind.HOLD && kind !== Kind.LAPSED) return;
    const ledger = this.#ints[at + LEDGER]!;
    const isOpen = kind === Kind.HOLD;
    this.#heap.remove(slot);
    this.#count(ledger, isOpen ? -1 : 0, -1, isOpen ? -this.#words[at / 2 + AMOUNT]! : 0);
    this.#words[at / 2 + END] = until;
    this.#ints[at + HASH] = counter[4]!;
    this.#ints[at + KIND] = Kind.COMMITTED;
    this.#ints[this.#at + COMMITS]! += 1;
    this.#enqueue(slot);
    this.#dropUnused(ledger);
  }

  #remember(counter: Digest, token: Token, until: number): void {
    const mark = this.#newSlot(this.#keyOf(counter, token));
    this.#words[this.#word(mark) + END] = until;
    this.#ints[this.#int(mark) + HASH] = counter[4]!;
    this.#link(mark, Kind.COMMITTED);
    this.#ints[this.#at + COMMITS]! += 1;
    this.#enqueue(mark);
  }

  /** Ends the holds that no longer count. Each hold takes two steps at most, in its whole life. */
  #expire(now: number): void {
    for (;;) {
      const slot = this.#heap.first;
      if (slot === 0 || this.#words[this.#word(slot) + UNTIL]! > now) break;
      this.#expireOne(slot, now);
    }
    for (;;) {
      const first = this.#ints[this.#at + QUEUE_FIRST]!;
      if (first === 0 || this.#ints[this.#int(first) + KIND] !== Kind.COMMITTED) return;
      if (this.#words[this.#word(first) + END]! > now) return;
      this.#dropOldest();
    }
  }

  #expireOne(slot: number, now: number): void {
    const word = this.#word(slot);
    const at = this.#int(slot);
    const ledger = this.#ints[at + LEDGER]!;
    if (this.#ints[at + KIND] === Kind.HOLD) {
      this.#ints[at + KIND] = Kind.LAPSED;
      this.#count(ledger, -1, 0, -this.#words[word + AMOUNT]!);
      this.#words[this.#word(ledger) + END]! += this.#words[word + AMOUNT]!;
    }
    const end = this.#words[word + END]!;
    if (end > now) {
      this.#words[word + UNTIL] = end;
      this.#heap.sink(slot);
    } else this.#remove(slot);
  }

  #remove(slot: number): void {
    const at = this.#int(slot);
    const ledger = this.#ints[at + LEDGER]!;
    const isOpen = this.#ints[at + KIND] === Kind.HOLD;
    this.#heap.remove(slot);
    this.#release(slot);
    this.#count(ledger, isOpen ? -1 : 0, -1, isOpen ? -this.#words[this.#word(slot) + AMOUNT]! : 0);
    this.#dropUnused(ledger);
  }

  #count(ledger: number, open: number, all: number, hits: number): void {
    const at = this.#int(ledger);
    this.#ints[at + OPEN]! += open;
    this.#ints[at + ALL]! += all;
    this.#words[this.#word(ledger) + AMOUNT]! += hits;
  }

  /** A ledger without holds waits in the queue while hits of ended holds are not reported. @returns whether it is dropped */
  #dropUnused(ledger: number): boolean {
    const at = this.#int(ledger);
    if (this.#ints[at + ALL] !== 0 || this.#ints[at + QUEUED] !== 0) return false;
    if (this.#words[at / 2 + END] !== 0) {
      this.#enqueue(ledger);
      return false;
    }
    this.#release(ledger);
    return true;
  }

  // --- The queue: commits, and ledgers without holds. The first is dropped first.

  #enqueue(slot: number): void {
    const ints = this.#ints;
    const last = ints[this.#at + QUEUE_LAST]!;
    ints[this.#int(slot) + QUEUE_NEXT] = 0;
    ints[this.#int(slot) + QUEUED] = 1;
    if (last === 0) ints[this.#at + QUEUE_FIRST] = slot;
    else ints[this.#int(last) + QUEUE_NEXT] = slot;
    ints[this.#at + QUEUE_LAST] = slot;
  }

  #dropOldest(): void {
    const ints = this.#ints;
    const slot = ints[this.#at + QUEUE_FIRST]!;
    if (slot === 0) return;
    const at = this.#int(slot);
    ints[this.#at + QUEUE_FIRST] = ints[at + QUEUE_NEXT]!;
    if (ints[at + QUEUE_NEXT] === 0) ints[this.#at + QUEUE_LAST] = 0;
    ints[at + QUEUED] = 0;
    if (ints[at + KIND] === Kind.COMMITTED) {
      ints[this.#at + COMMITS]! -= 1;
      this.#release(slot);
    } else if (ints[at + ALL] === 0) this.#release(slot);
  }

  // --- Slots

  /** A slot with a key. It is nothing until it is linked. */
  #newSlot(key: Digest): number {
    const ints = this.#ints;
    let slot = ints[this.#at + FREE_LIST]!;
    if (slot !== 0) {
      ints[this.#at + FREE_LIST] = ints[this.#int(slot) + NEXT]!;
      ints[this.#at + FREE]! -= 1;
    } else {
      ints[this.#at + USED]! += 1;
      slot = ints[this.#at + USED]!;
    }
    const at = this.#int(slot);
    for (let place = 0; place < SLOT_WORDS * 2; place++) ints[at + place] = 0;
    for (let part = 0; part < 4; part++) ints[at + KEY + part] = key[part]!;
    ints[at + HASH] = key[4]!;
    return slot;
  }

  #link(slot: number, kind: number): void {
    const at = this.#int(slot);
    const bucket = this.#bucketOf(at);
    this.#ints[at + NEXT] = this.#ints[bucket]!;
    this.#ints[at + KIND] = kind; // From here on it survives a rebuild.
    this.#ints[bucket] = slot;
  }

  #release(slot: number): void {
    const ints = this.#ints;
    const at = this.#int(slot);
    ints[at + KIND] = Kind.FREE;
    let link = this.#bucketOf(at);
    while (ints[link] !== slot) link = this.#int(ints[link]!) + NEXT;
    ints[link] = ints[at + NEXT]!;
    ints[at + NEXT] = ints[this.#at + FREE_LIST]!;
    ints[this.#at + FREE_LIST] = slot;
    ints[this.#at + FREE]! += 1;
  }

  #free(): number {
    return this.#slots - this.#ints[this.#at + USED]! + this.#ints[this.#at + FREE]!;
  }

  /** Finds a ledger, or a hold or a commit. @returns 0 for none */
  #find(key: Digest, isLedger: boolean): number {
    const ints = this.#ints;
    let slot = ints[this.#at + BUCKETS_AT + (key[0]! & this.#mask)]!;
    while (slot !== 0) {
      const at = this.#int(slot);
      if (
        ints[at + KEY] === key[0] &&
        this.#isAt(slot, key) &&
        (ints[at + KIND] === Kind.LEDGER) === isLedger
      )
        return slot;
      slot = ints[at + NEXT]!;
    }
    return 0;
  }

  /** Whether a slot in use has a key. */
  #isAt(slot: number, key: Digest): boolean {
    const ints = this.#ints;
    const at = this.#int(slot);
    return (
      ints[at + KIND] !== Kind.FREE &&
      ints[at + KEY] === key[0] &&
      ints[at + KEY + 1] === key[1] &&
      ints[at + KEY + 2] === key[2] &&
      ints[at + KEY + 3] === key[3]
    );
  }

  #keyOf(counter: Digest, token: Token): Digest {
    for (let part = 0; part < 4; part++) this.#key[part] = counter[part]! ^ token[part]!;
    this.#key[4] = counter[4]!;
    return this.#key;
  }

  #bucketOf(at: number): number {
    return this.#at + BUCKETS_AT + (this.#ints[at + KEY]! & this.#mask);
  }

  #int(slot: number): number {
    return this.#slotsAt + slot * SLOT_WORDS * 2;
  }

  #word(slot: number): number {
    return this.#int(slot) / 2;
  }

  // --- Repair and snapshot

  get isEmpty(): boolean {
    return this.#ints[this.#at + USED] === this.#ints[this.#at + FREE];
  }

  /** Recreates everything from the slots, after a thread ended with the lock held. */
  rebuild(): void {
    const shown = [...this.show(0)];
    this.clear();
    for (const hold of shown) this.load(hold);
  }

  clear(): void {
    this.#ints.fill(0, this.#at, this.#at + BUCKETS_AT + this.#mask + 1);
  }

  /** The holds and commits that matter at an instant. Commits come in the order of their ends. */
  show(now: number): ShownHold[] {
    const shown: ShownHold[] = [];
    for (let slot = 1; slot <= this.#ints[this.#at + USED]!; slot++) {
      const at = this.#int(slot);
      const word = at / 2;
      const kind = this.#ints[at + KIND]!;
      if (kind === Kind.FREE || kind === Kind.LEDGER || this.#words[word + END]! <= now) continue;
      const ledger = kind === Kind.COMMITTED ? 0 : this.#int(this.#ints[at + LEDGER]!);
      shown.push({
        kind,
        hash: this.#ints[(ledger === 0 ? at : ledger) + HASH]!,
        key: [...this.#ints.subarray(at + KEY, at + KEY + 4)],
        ledger: ledger === 0 ? [0, 0, 0, 0] : [...this.#ints.subarray(ledger + KEY, ledger + KEY + 4)],
        amount: this.#words[word + AMOUNT]!,
        until: this.#words[word + UNTIL]!,
        end: this.#words[word + END]!,
      });
    }
    return shown.sort((a, b) => a.end - b.end);
  }

  /** Adds a hold of a snapshot. The first call for its counter counts it in the statistics of this process. */
  restore(hold: ShownHold): void {
    this.load(hold);
    if (hold.kind !== Kind.HOLD) return;
    const ledger = this.#find(Int32Array.from([...hold.ledger, hold.hash]), true);
    if (ledger !== 0) this.#ints[this.#int(ledger) + RESTORED] = 1;
  }

  /** Adds what {@link show} has shown, as far as there is room. */
  load({ kind, key, ledger, hash, amount, until, end }: ShownHold): void {
    if (!this.hasRoom(1)) return;
    const isCommit = kind === Kind.COMMITTED;
    const counter = Int32Array.from([...(isCommit ? [0, 0, 0, 0] : ledger), hash]);
    const token = key.map((part, index) => part ^ counter[index]!) as unknown as Token;
    if (isCommit) {
      this.#remember(counter, token, end);
      return;
    }
    this.add(counter, token, { amount, until, end });
    if (kind === Kind.HOLD) return;
    const slot = this.#find(this.#keyOf(counter, token), false);
    this.#ints[this.#int(slot) + KIND] = Kind.LAPSED;
    this.#count(this.#ints[this.#int(slot) + LEDGER]!, -1, 0, -amount);
  }
}
