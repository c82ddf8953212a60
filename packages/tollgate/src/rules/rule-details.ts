import type { JsonObject } from "../protocol/messages.ts";
import type { DraftDescriptor, DraftLimit } from "./draft.ts";
import { frozenJson } from "./frozen-json.ts";
import { createLimit, type LimitSettings } from "./limit.ts";
import { limitsOf } from "./limit-settings.ts";

/**
 * The parts of a rule that few rules have. Compiled rules keep them as JSON text, so every part must be plain data. A new
 * key of the configuration needs only a line in each function.
 */
interface RuleDetails {
  readonly name?: string;
  readonly replaces?: readonly string[];
  readonly metadata?: JsonObject;
  /** The limits of a rule that has several, or one with more than a usual number, a unit and a name. */
  readonly limits?: { readonly isListed: boolean; readonly items: readonly LimitSettings[] };
}

/** Returns undefined if the rule has no such part. */
export function detailsOf(descriptor: DraftDescriptor, limit: DraftLimit): RuleDetails | undefined {
  const details: RuleDetails = {
    // The names of a list belong to its limits, and no rule can replace them.
    ...(limit.name !== "" && descriptor.limits === undefined && { name: limit.name }),
    ...(limit.replaces.length > 0 && { replaces: limit.replaces.map(({ name }) => name ?? "") }),
    ...(descriptor.metadata && { metadata: descriptor.metadata }),
    ...limitsOf(descriptor),
  };
  return Object.keys(details).length === 0 ? undefined : details;
}

const none: readonly string[] = Object.freeze([]);

/** Returns the fields of a rule from the JSON text of its details; undefined for a rule without any. */
export function readDetails(text: string | undefined) {
  const details: RuleDetails = text === undefined ? {} : JSON.parse(text);
  const { name = "", replaces = none, metadata, limits } = details;
  return {
    name,
    replaces: Object.freeze(replaces),
    metadata: metadata && frozenJson(metadata),
    ...(limits !== undefined && {
      requestsPerUnit: limits.items[0]!.requestsPerUnit,
      limits: Object.freeze(limits.items.map((settings) => createLimit(settings, limits.isListed))),
    }),
  };
}
