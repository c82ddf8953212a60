/** The flags of all commands that load rules: the settings of the service that decide what a rule means. */
import type { LoadOptions } from "../rules/check-configs.ts";
import { fixedWindowsOnlyOf } from "../service/fixed-windows-only.ts";
import { UsageError } from "./flags.ts";

export const loadFlags = {
  "merge-domain-configs": { type: "boolean" },
  "merge-domain-config": { type: "boolean" },
  "use-calendar-month-rate-limit": { type: "boolean" },
  "backend-type": { type: "string" },
} as const;

type Values = { readonly [Name in keyof typeof loadFlags]?: string | boolean | undefined };

export type Backend = Parameters<typeof fixedWindowsOnlyOf>[0];

/** The values of BACKEND_TYPE. */
const BACKENDS: ReadonlyMap<string, Backend> = new Map([
  ["embedded", "embedded"],
  ["kvstore", "kvstore"],
  ["redis", "kvstore"],
  ["objcache", "objcache"],
  ["memcache", "objcache"],
]);

/** @throws {UsageError} */
export function readLoadFlags(values: Values): LoadOptions & { readonly backend: Backend } {
  const name = values["backend-type"] ?? "embedded";
  const backend = BACKENDS.get(String(name));
  if (backend === undefined)
    throw new UsageError(`-backend_type ${name}: must be one of ${[...BACKENDS.keys()].join(", ")}`);
  return {
    mergeDomains: Boolean(values["merge-domain-configs"] ?? values["merge-domain-config"] ?? false),
    calendarMonths: Boolean(values["use-calendar-month-rate-limit"] ?? false),
    fixedWindowsOnly: fixedWindowsOnlyOf(backend),
    backend,
  };
}
