import { INVALID } from "./converter.ts";

/** As deep as a JSON body may be. */
const MAXIMUM_DEPTH = 1_000;

/**
 * JSON text of a nested value in a query, a form field or a path segment: `?filter={"min":1}`.
 * INVALID when it is none, nested too deep, or has a key that could reach a prototype.
 */
export const parseJsonText = (text: string): unknown => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return INVALID;
  }
  return isSound(value, MAXIMUM_DEPTH) ? value : INVALID;
};

const isSound = (value: unknown, depth: number): boolean => {
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0 || Object.hasOwn(value, "__proto__")) return false;
  return Object.values(value).every((own) => isSound(own, depth - 1));
};
