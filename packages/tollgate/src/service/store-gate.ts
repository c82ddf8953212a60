import { setTimeout as sleep } from "node:timers/promises";
import { type CounterStore, HoldBack, Outcome, Refuses, StoreError } from "../counters/store.ts";
import type { Logger } from "../observe/log.ts";
import { pageOfSetting, withPage } from "../text/manual.ts";

/** A remote store that must answer before the ports open. */
export interface RequiredStore {
  /** Its name in log lines: `the key-value store`. */
  readonly name: string;
  /** The store without the over-limit cache and the failure policy. */
  readonly store: CounterStore;
  /** Returns the reason why the store has no connection; empty if unknown. */
  fault(): string;
}

export interface StoreGateOptions {
  readonly log: Logger;
  /** `CACHE_KEY_PREFIX`: the store may allow no other keys. */
  readonly keyPrefix: string;
  /** `KVSTORE_STARTUP_MAX_ELAPSED_TIME` in milliseconds; 0 for no limit. */
  readonly maxElapsed: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** Milliseconds for one attempt, and between two attempts. */
const ATTEMPT = 500;
const PAUSE = 100;
/** The same reason is logged again after so many milliseconds. */
const REMINDER = 60_000;

/**
 * Waits until every store has answered once (`STORE_REQUIRED_AT_START`), and logs why the ports stay shut meanwhile.
 * Each attempt looks at a counter, so an address, a password, a certificate or a permission that is wrong fails it.
 * @returns whether the stores have answered; false after an abort
 * @throws {StoreError} if a store has not answered within `maxElapsed`
 */
export async function storesAnswer(
  stores: readonly RequiredStore[],
  options: StoreGateOptions,
): Promise<boolean> {
  const since = performance.now();
  for (const store of stores) if (!(await answers(store, options, since))) return false;
  return true;
}

async function answers(
  { name, store, fault }: RequiredStore,
  { log, keyPrefix, maxElapsed, signal }: StoreGateOptions,
  since: number,
): Promise<boolean> {
  let logged = "";
  let loggedAt = 0;
  while (!signal.aborted) {
    const reason = await fails(store, keyPrefix, fault);
    const now = performance.now();
    if (reason === undefined) {
      if (logged !== "") log.warn(`${name} has answered after ${((now - since) / 1000).toFixed(1)} s`);
      return true;
    }
    if (signal.aborted) break;
    if (maxElapsed > 0 && now - since >= maxElapsed)
      throw new StoreError(
        "STORE_UNAVAILABLE",
        `${name} has not answered within ${maxElapsed} ms: ${reason}`,
      );
    if (reason !== logged || now - loggedAt >= REMINDER) {
      log.warn(
        withPage(
          `${name} does not answer: ${reason}; the gRPC and HTTP ports stay shut until it does`,
          pageOfSetting("STORE_REQUIRED_AT_START"),
        ),
      );
      logged = reason;
      loggedAt = now;
    }
    await sleep(PAUSE, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

/** @returns why the store cannot look at a counter; undefined if it can */
async function fails(
  store: CounterStore,
  keyPrefix: string,
  fault: () => string,
): Promise<string | undefined> {
  const now = Date.now();
  const look = {
    stem: `${keyPrefix}tollgate:start:`,
    windowStart: 0,
    windowSize: 1,
    hits: 0,
    limit: 1,
    refuses: Refuses.NEVER,
    outcome: Outcome.COUNTED,
    after: 0,
  };
  try {
    await store.count({ counts: [look], holdBack: HoldBack.NEVER, now, deadline: now + ATTEMPT });
    return undefined;
  } catch (error) {
    return fault() || (error instanceof Error ? error.message : String(error));
  }
}
