/** Measures alternatives to two choices of the embedded store: how to add, and how to hash. */
import { KeyScratch } from "../../packages/tollgate/src/counters/embedded/key.ts";
import { nanoseconds, stemOf } from "./workload.ts";

export function runAlternatives(): void {
  console.table({ ...adding(), ...hashing() });
}

type Rows = Record<string, Record<string, string>>;

function adding(): Rows {
  const memory = new SharedArrayBuffer(1024);
  const ints = new Int32Array(memory);
  const floats = new Float64Array(memory);
  const bigints = new BigInt64Array(memory);
  const plain = nanoseconds(5_000_000, (calls) => {
    for (let call = 0; call < calls; call++) floats[8]! += 1;
  });
  const locked = nanoseconds(5_000_000, (calls) => {
    for (let call = 0; call < calls; call++) {
      while (Atomics.compareExchange(ints, 0, 0, 1) !== 0);
      floats[8]! += 1;
      Atomics.store(ints, 0, 0);
    }
  });
  const exchanged = nanoseconds(1_000_000, (calls) => {
    for (let call = 0; call < calls; call++) {
      let before = Atomics.load(bigints, 16);
      for (;;) {
        const found = Atomics.compareExchange(bigints, 16, before, before + 1n);
        if (found === before) break;
        before = found;
      }
    }
  });
  return {
    "add: no lock, one thread only": row(plain, plain),
    "add: under a lock (chosen)": row(locked, plain),
    "add: compare and exchange of a BigInt": row(exchanged, plain),
  };
}

function hashing(): Rows {
  const stems = Array.from({ length: 1000 }, (_, index) => stemOf(index));
  const key = new KeyScratch(0x1234_5678, 0x0765_4321);
  const sip = nanoseconds(1_000_000, (calls) => {
    for (let call = 0; call < calls; call++) key.encode({ stem: stems[call % 1000]! });
  });
  let sink = 0;
  const fnv = nanoseconds(1_000_000, (calls) => {
    for (let call = 0; call < calls; call++) sink ^= fnvOf(stems[call % 1000]!);
  });
  const buffer = Buffer.alloc(512);
  const copy = nanoseconds(1_000_000, (calls) => {
    for (let call = 0; call < calls; call++) sink ^= buffer.write(stems[call % 1000]!, "latin1");
  });
  const map = new Map(stems.map((stem) => [stem, 1]));
  const known = nanoseconds(1_000_000, (calls) => {
    for (let call = 0; call < calls; call++) sink ^= map.get(stems[call % 1000]!)!;
  });
  if (sink === 1) throw new Error("unreachable: keeps the loops from being optimized away");
  return {
    "key: a Map of strings whose hash V8 has": row(known, known),
    "key: bytes and HalfSipHash-1-3 (chosen)": row(sip, known),
    "key: FNV-1a, whose hashes callers can predict": row(fnv, known),
    "key: bytes through Buffer.write, no hash": row(copy, known),
  };
}

function fnvOf(text: string): number {
  let hash = 0x811c_9dc5;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x0100_0193);
  return hash;
}

function row(measured: number, baseline: number): Record<string, string> {
  return { ns: measured.toFixed(1), "against the first": (measured / baseline).toFixed(1) };
}
