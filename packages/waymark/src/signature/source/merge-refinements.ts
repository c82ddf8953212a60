import type { Refinements } from "../model/signature.ts";

/** The values that fit the refinements of both sides. Undefined if no refinements express that. */
export function mergeRefinements(one: Refinements, other: Refinements): Refinements | undefined {
  const merged: Record<string, Refinements[keyof Refinements]> = { ...one };
  for (const [key, value] of Object.entries(other)) {
    const known = merged[key];
    if (known === undefined || known === value) merged[key] = value;
    else if (LEAST.has(key)) merged[key] = Math.max(Number(known), Number(value));
    else if (MOST.has(key)) merged[key] = Math.min(Number(known), Number(value));
    else return undefined;
  }
  return merged;
}

const LEAST = new Set(["minimum", "exclusiveMinimum", "minLength", "minItems"]);
const MOST = new Set(["maximum", "exclusiveMaximum", "maxLength", "maxItems"]);
