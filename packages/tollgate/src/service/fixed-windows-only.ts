import type { Settings } from "../settings/settings.ts";

/** Returns the reason why a store supports fixed windows only; undefined if it supports every algorithm. */
export function fixedWindowsOnlyOf(backend: Settings["store"]["backend"]): string | undefined {
  return backend === "objcache"
    ? "the object cache (BACKEND_TYPE=memcache) supports fixed windows only"
    : undefined;
}
