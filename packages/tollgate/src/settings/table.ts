import type { Setting } from "./setting.ts";
import { decision } from "./table/decision.ts";
import { debug, grpc, http, lifecycle } from "./table/listeners.ts";
import { logs, stats, tracing } from "./table/observe.ts";
import { requests } from "./table/requests.ts";
import { config, files, xds } from "./table/rules.ts";
import { embedded, kvstore, objcache, store } from "./table/stores.ts";

/** Every setting, in groups: what is read, what the help and the manual print, and the shape of the values. */
export const table = {
  http,
  grpc,
  debug,
  requests,
  lifecycle,
  config,
  files,
  xds,
  decision,
  store,
  embedded,
  kvstore,
  objcache,
  stats,
  logs,
  tracing,
};

/** The values that rows of a table stand for, in the same shape. */
export type ValuesOf<T> = {
  readonly [Key in keyof T]: T[Key] extends Setting<infer Value> ? Value : ValuesOf<T[Key]>;
};

/** What was read, before anything is checked against anything else. */
export type Values = ValuesOf<typeof table>;
