import { INVALID } from "./converter.ts";

/** A conversion of JSON values that accepts strings only. */
export function stringOr(fromText: (text: string) => unknown): (value: unknown) => unknown {
  return (value) => (typeof value === "string" ? fromText(value) : INVALID);
}
