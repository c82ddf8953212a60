import assert from "node:assert/strict";
import { test } from "node:test";
import { loadSettings } from "../settings/load-settings.ts";
import { divideSettings, failuresToOpen } from "./divide.ts";

const redis = loadSettings({
  KVSTORE_URL: "h:1",
  KVSTORE_POOL_SIZE: "12",
  KVSTORE_PERSECOND: "true",
  KVSTORE_PERSECOND_URL: "g:1",
  KVSTORE_PERSECOND_POOL_SIZE: "2",
  LOCAL_CACHE_SIZE_IN_BYTES: "900000",
}).settings;
const memcached = loadSettings({
  BACKEND_TYPE: "objcache",
  OBJCACHE_HOST_PORT: "h:1",
  OBJCACHE_MAX_IDLE_CONNS: "6",
}).settings;

function figures(parts: number) {
  const { kvstore, store } = divideSettings(redis, parts);
  const { objcache } = divideSettings(memcached, parts);
  return [
    kvstore!.main.poolSize,
    kvstore!.perSecond!.poolSize,
    store.localCacheSizeInBytes,
    objcache!.maxIdleConnections,
    failuresToOpen(parts),
  ];
}

test("limits of the process are divided among its threads, and no share is 0", () => {
  assert.deepEqual(figures(1), [12, 2, 900_000, 6, 5]);
  assert.deepEqual(figures(3), [4, 1, 300_000, 2, 2]);
  assert.deepEqual(figures(9), [1, 1, 100_000, 1, 2]);
});

test("a local cache that is off stays off", () => {
  assert.equal(divideSettings(memcached, 3).store.localCacheSizeInBytes, 0);
});
