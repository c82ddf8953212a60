import type { JsonObject, JsonValue } from "../protocol/messages.ts";

/** A frozen copy of an object and all that is in it: what is handed out with answers cannot be changed by them. */
export function frozenJson(object: JsonObject): JsonObject {
  const pairs = Object.entries(object).map(([name, item]) => [name, frozenValue(item)] as const);
  // fromEntries makes own properties of all names, `__proto__` included.
  return Object.freeze(Object.fromEntries(pairs));
}

function frozenValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return Object.freeze(value.map(frozenValue));
  return value === null || typeof value !== "object" ? value : frozenJson(value as JsonObject);
}
