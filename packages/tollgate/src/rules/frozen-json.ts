import type { JsonObject, JsonValue } from "../protocol/messages.ts";

/** Copies and freezes an object with all its values, so that answers that refer to it cannot change it. */
export function frozenJson(object: JsonObject): JsonObject {
  const pairs = Object.entries(object).map(([name, item]) => [name, frozenValue(item)] as const);
  // fromEntries creates own properties for all names, `__proto__` included.
  return Object.freeze(Object.fromEntries(pairs));
}

function frozenValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return Object.freeze(value.map(frozenValue));
  return value === null || typeof value !== "object" ? value : frozenJson(value as JsonObject);
}
