import { message } from "../support/decision.ts";

/** The calls of a gateway. */
export interface Workload {
  /** The frequency of the addresses: by Zipf's law, equally often at random, or in turn. */
  readonly choice: "zipf" | "uniform" | "turn";
  readonly addresses: number;
  readonly tenants: number;
  /** Each call has a `traceparent` of its own. */
  readonly isTraced: boolean;
}

/** The leading case: tracing is on, 100,000 addresses and 1,000 tenants by Zipf's law. */
export const leading: Workload = { choice: "zipf", addresses: 100_000, tenants: 1000, isTraced: true };

const ADDRESS = "10.000.000.000";
const TENANT = "tenant-0000";
/** An address always asks for the same path, so there are as many counters as addresses and tenants. */
const PATHS = 16;

/** Returns a generator of numbers from 0 to 1 (mulberry32). Every peer gets the same calls. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a function that chooses one of `count` numbers for each call. */
export function chooser(choice: Workload["choice"], count: number, random: () => number): () => number {
  if (choice === "turn") {
    let next = -1;
    return () => {
      next = next + 1 < count ? next + 1 : 0;
      return next;
    };
  }
  if (choice === "uniform") return () => Math.floor(random() * count);
  const sums = new Float64Array(count);
  let sum = 0;
  for (let rank = 0; rank < count; rank++) {
    sum += 1 / (rank + 1);
    sums[rank] = sum;
  }
  return () => {
    const wanted = random() * sum;
    let low = 0;
    let high = count - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sums[middle]! < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** Writes gRPC messages of two descriptors: a path with a client address, and a tenant. */
export class Messages {
  readonly #templates: readonly { bytes: Buffer; address: number; tenant: number }[];

  constructor() {
    this.#templates = Array.from({ length: PATHS }, (_, path) => {
      const bytes = Buffer.from(
        message(`path=/api/orders/${100 + path},remote_address=${ADDRESS}`, `tenant=${TENANT}`),
      );
      const framed = Buffer.concat([Buffer.alloc(5), bytes]);
      framed.writeUInt32BE(bytes.length, 1);
      return { bytes: framed, address: framed.indexOf(ADDRESS), tenant: framed.indexOf(TENANT) };
    });
  }

  /** The length of every message, with gRPC's framing. */
  get length(): number {
    return this.#templates[0]!.bytes.length;
  }

  /** Writes a message with gRPC's framing into `out` at `at`. */
  write(out: Uint8Array, at: number, address: number, tenant: number): void {
    const template = this.#templates[address % PATHS]!;
    const { bytes } = template;
    for (let index = 0; index < bytes.length; index++) out[at + index] = bytes[index]!;
    const start = at + template.address;
    digits(out, start + 5, address >>> 16);
    digits(out, start + 9, (address >>> 8) & 0xff);
    digits(out, start + 13, address & 0xff);
    digits(out, at + template.tenant + TENANT.length - 1, tenant);
  }
}

/** Writes a number over zeros, from its last digit at `at`. */
function digits(out: Uint8Array, at: number, value: number): void {
  let rest = value;
  for (let place = at; rest > 0; place--) {
    out[place] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}
