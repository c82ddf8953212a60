import type { Setting } from "./kinds/setting.ts";
import { decision } from "./table/decision.ts";
import { decisionLog, topKeys } from "./table/insight.ts";
import { admin, debug, grpc, http, lifecycle } from "./table/listeners.ts";
import { logs, stats, tracing } from "./table/observe.ts";
import { requests } from "./table/requests.ts";
import { reservations } from "./table/reservations.ts";
import { config, files, xds } from "./table/rules.ts";
import { embedded, kvstore, objcache, store } from "./table/stores.ts";

/** Every setting, in groups. The table defines the names, the texts of help and manual, and the types of the values. */
export const table = {
  http,
  grpc,
  debug,
  admin,
  requests,
  lifecycle,
  config,
  files,
  xds,
  decision,
  reservations,
  store,
  embedded,
  kvstore,
  objcache,
  stats,
  topKeys,
  decisionLog,
  logs,
  tracing,
};

/** The values of a table's rows, in the same structure. */
export type ValuesOf<T> = {
  readonly [Key in keyof T]: T[Key] extends Setting<infer Value> ? Value : ValuesOf<T[Key]>;
};

/** The values before the checks across settings. */
export type Values = ValuesOf<typeof table>;
