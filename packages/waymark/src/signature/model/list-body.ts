import { isList } from "./keyword-shapes.ts";
import type { MethodSignature, Parameter } from "./signature.ts";

/**
 * The parameter that takes a JSON list as the whole body: the last positional one, if it is a list and no parameter
 * takes the keyword arguments. Other lists are read by name: `{ "added": [], "removed": [] }`.
 */
export function listBodyParameter({ parameters, definitions }: MethodSignature): Parameter | undefined {
  if (parameters.some(({ role, name }) => role !== "positional" || name === "body")) return undefined;
  const lists = parameters.filter(({ type }) => isList(type, definitions));
  const last = parameters.at(-1);
  return lists.length === 1 && lists[0] === last ? last : undefined;
}
