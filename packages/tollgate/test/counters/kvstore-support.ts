import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type CounterStore,
  type CountRequest,
  StoreError,
  type StoreErrorCode,
} from "../../src/counters/store.ts";
import { makeCount, makeRequest } from "./conformance.ts";

type Fields = Parameters<typeof makeCount>[0];

/** Counts once and returns the counter. */
export async function countOne(
  store: CounterStore,
  fields: Fields,
  request: Partial<CountRequest> = {},
): Promise<number> {
  const count = makeCount(fields);
  await store.count(makeRequest([count], request));
  return count.after;
}

/** Asserts that a count fails with a code, and returns the error and how long it took. */
export async function countFails(
  store: CounterStore,
  code: StoreErrorCode,
  fields: Fields = { stem: "fails|hour:" },
  request: Partial<CountRequest> = {},
): Promise<{ error: StoreError; took: number }> {
  const begun = performance.now();
  try {
    await countOne(store, fields, request);
  } catch (error) {
    assert.ok(error instanceof StoreError, String(error));
    assert.equal(error.code, code, error.message);
    return { error, took: performance.now() - begun };
  }
  assert.fail(`the count should have failed with ${code}`);
}

/** Waits for what is bound to become true. */
export async function until(
  what: string,
  done: () => boolean | Promise<boolean>,
  within = 10_000,
): Promise<void> {
  const latest = performance.now() + within;
  while (!(await done())) {
    if (performance.now() > latest) assert.fail(`not within ${within} ms: ${what}`);
    await sleep(5);
  }
}

/** A deadline for a request made now. */
export function within(milliseconds: number): Partial<CountRequest> {
  const now = Date.now();
  return { now, deadline: now + milliseconds };
}
