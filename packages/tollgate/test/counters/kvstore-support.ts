import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { isTimeUp } from "../../../../tools/time-scale.ts";
import { KvstoreStore } from "../../src/counters/kvstore/kvstore.ts";
import type { KvstoreOptions } from "../../src/counters/kvstore/kvstore-options.ts";
import { ObjcacheStore } from "../../src/counters/objcache/objcache.ts";
import type { ObjcacheOptions } from "../../src/counters/objcache/objcache-options.ts";
import {
  type CounterStore,
  type CountRequest,
  HoldBack,
  StoreError,
  type StoreErrorCode,
} from "../../src/counters/store.ts";
import { kvstoreOptions, objcacheOptions } from "../../src/service/store-options.ts";
import { loadSettings } from "../../src/settings/load-settings.ts";
import { makeCount, makeRequest } from "./conformance.ts";

type Fields = Parameters<typeof makeCount>[0];

/** Addresses and credentials as in the settings, and other options of the store. */
export interface TestKvstore extends Omit<KvstoreOptions, "target" | "credentials" | "sentinelCredentials"> {
  /** `KVSTORE_URL` */
  readonly url: string;
  /** `KVSTORE_TYPE` */
  readonly type?: "single" | "sentinel" | "cluster";
  /** `KVSTORE_SOCKET_TYPE` */
  readonly socketType?: "tcp" | "unix";
  /** `KVSTORE_AUTH` */
  readonly auth?: string;
  /** `KVSTORE_SENTINEL_AUTH` */
  readonly sentinelAuth?: string;
}

/** Opens a store with an address that is parsed by the settings. */
export function makeKvstore({
  url,
  type,
  socketType,
  auth,
  sentinelAuth,
  ...options
}: TestKvstore): KvstoreStore {
  const { settings } = loadSettings({
    KVSTORE_URL: url,
    KVSTORE_TYPE: type,
    KVSTORE_SOCKET_TYPE: socketType,
    KVSTORE_AUTH: auth,
    KVSTORE_SENTINEL_AUTH: sentinelAuth,
  });
  const { target, credentials, sentinelCredentials, tls } = kvstoreOptions(
    settings.kvstore!.main,
    settings.store,
  );
  return new KvstoreStore({
    target,
    ...(credentials !== undefined && { credentials }),
    ...(sentinelCredentials !== undefined && { sentinelCredentials }),
    ...(tls !== undefined && { tls }),
    // Long enough for any machine.
    timeout: 120_000,
    ...options,
  });
}

export interface TestObjcache extends Omit<ObjcacheOptions, "nodes"> {
  /** `OBJCACHE_HOST_PORT` */
  readonly nodes?: readonly string[];
}

/** Opens an object cache. `nodes` are parsed by the settings; without them the options are used directly. */
export function makeObjcache({ nodes, ...options }: TestObjcache): ObjcacheStore {
  if (nodes === undefined) return new ObjcacheStore(options);
  const { settings } = loadSettings({ BACKEND_TYPE: "objcache", OBJCACHE_HOST_PORT: nodes.join() });
  const parsed = objcacheOptions(settings.objcache!, settings.store).nodes!;
  return new ObjcacheStore({ ...options, nodes: parsed });
}

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

/** Makes two counts that hold each other back, and returns the counters. */
export async function countPair(store: CounterStore, first: Fields, second: Fields): Promise<number[]> {
  const counts = [makeCount(first), makeCount(second)];
  await store.count(makeRequest(counts, { holdBack: HoldBack.WHEN_REFUSED }));
  return counts.map(({ after }) => after);
}

/** Asserts that a count fails with a code. Returns the error and the duration. */
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

/** Waits for a condition, at most `within` milliseconds. */
export async function until(
  what: string,
  done: () => boolean | Promise<boolean>,
  within?: number,
): Promise<void> {
  const begun = performance.now();
  while (!(await done())) {
    const isLate = within === undefined ? isTimeUp(begun, 10_000) : performance.now() - begun > within;
    if (isLate) assert.fail(`not in time: ${what}`);
    await sleep(5);
  }
}

/** A deadline for a request made now. */
export function within(milliseconds: number): Partial<CountRequest> {
  const now = Date.now();
  return { now, deadline: now + milliseconds };
}
