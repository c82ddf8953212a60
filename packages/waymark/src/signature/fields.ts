import type { BindFault } from "./faults.ts";

/**
 * Reads `application/x-www-form-urlencoded` text, a query or a body, by the WHATWG URL standard,
 * except that a malformed escape is a fault instead of being passed on. A name without `=` has the
 * empty string. Names may repeat.
 */
export const parseFields = (_text: string, _where: "query" | "body"): [string, string][] | BindFault => {
  throw new Error("being written");
};
