import type { JsonObject } from "../protocol/messages.ts";
import type { DraftDescriptor, DraftLimit } from "./draft.ts";
import { frozenJson } from "./frozen-json.ts";

/**
 * The parts of a rule that few rules have. Compiled rules keep them as JSON text, so every part must be plain data. A new
 * key of the configuration needs only a line in each function.
 */
interface RuleDetails {
  readonly name?: string;
  readonly replaces?: readonly string[];
  readonly metadata?: JsonObject;
}

/** Returns undefined if the rule has no such part. */
export function detailsOf(descriptor: DraftDescriptor, limit: DraftLimit): RuleDetails | undefined {
  const details: RuleDetails = {
    ...(limit.name !== "" && { name: limit.name }),
    ...(limit.replaces.length > 0 && { replaces: limit.replaces.map(({ name }) => name ?? "") }),
    ...(descriptor.metadata && { metadata: descriptor.metadata }),
  };
  return Object.keys(details).length === 0 ? undefined : details;
}

const none: readonly string[] = Object.freeze([]);

/** Returns the fields of a rule from the JSON text of its details; undefined for a rule without any. */
export function readDetails(text: string | undefined) {
  const { name = "", replaces = none, metadata }: RuleDetails = text === undefined ? {} : JSON.parse(text);
  return { name, replaces: Object.freeze(replaces), metadata: metadata && frozenJson(metadata) };
}
