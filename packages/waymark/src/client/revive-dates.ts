import type { DatePlan, Table } from "./types/table.ts";

/** The text that `Date.prototype.toJSON` writes. */
const DATE = /^(?:\d{4}|[+-]\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A value with a `Date` for each text at the places of a plan. Changes the value, which is parsed JSON. */
export function reviveDates(value: unknown, plan: DatePlan, types: Table["types"]): unknown {
  if (plan === 1) return typeof value === "string" && DATE.test(value) ? new Date(value) : value;
  if ("type" in plan) return reviveDates(value, types[plan.type]!, types);
  if ("any" in plan) return plan.any.reduce((made, one) => reviveDates(made, one, types), value);
  if (typeof value !== "object" || value === null) return value;
  const named = "in" in plan ? plan.in : {};
  const parts = value as Record<string, unknown>;
  for (const key of Object.keys(parts)) {
    const inner = Object.hasOwn(named, key) ? named[key] : plan.each;
    if (inner !== undefined) parts[key] = reviveDates(parts[key], inner, types);
  }
  return value;
}
