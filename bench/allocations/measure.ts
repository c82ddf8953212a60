/** Prints the bytes that each kind of decision allocates, as JSON. Needs `--expose-gc` and a large young generation. */
import { maxResponseSize, writeResponse } from "../../packages/tollgate/src/protocol/encode-response.ts";
import type { RateLimitResponse } from "../../packages/tollgate/src/protocol/messages.ts";
import { decisions, message, overridesOf } from "../support/decision.ts";

const CALLS = 20_000;
const { handler, store } = decisions();
const now = Date.now();
const out = Buffer.alloc(4096);
const withOverrides = decisions({ overrides: overridesOf(["tenant=acme"]) });

function decide(bytes: Uint8Array, by = handler): void {
  const response = by.decideMessage(bytes, 0, bytes.length, now, 0) as RateLimitResponse;
  maxResponseSize(response);
  writeResponse(response, out, 0);
}

/** A message in the buffer that a server reads from a socket. */
const read = (...descriptors: string[]) => Buffer.from(message(...descriptors));
const hot = read("user=ann");
const four = read("user=ann", "path=/api/a,remote_address=192.0.2.1", "plan=free", "user=bob");
const many = Array.from({ length: CALLS }, (_, index) => read(`user=user-${index}`));

const kinds: Record<string, (call: number) => void> = {
  "one descriptor, seen before": () => decide(hot),
  "one descriptor, overrides of another rule": () => decide(hot, withOverrides.handler),
  "four descriptors, seen before": () => decide(four),
  "one descriptor, a new key each time": (call) => decide(many[call % CALLS]!),
};

const measured: Record<string, number> = {};
for (const [name, run] of Object.entries(kinds)) {
  for (let call = 0; call < 10 * CALLS; call++) run(call);
  const rounds: number[] = [];
  for (let round = 0; round < 5; round++) {
    globalThis.gc!();
    const before = process.memoryUsage().heapUsed;
    for (let call = 0; call < CALLS; call++) run(call);
    rounds.push((process.memoryUsage().heapUsed - before) / CALLS);
  }
  measured[name] = Math.round(rounds.toSorted((a, b) => a - b)[2]!);
}
console.log(JSON.stringify(measured));
await store.close();
await withOverrides.store.close();
