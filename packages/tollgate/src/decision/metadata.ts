import {
  Code,
  type Descriptor,
  type DescriptorStatus,
  type JsonObject,
  type JsonValue,
  type LimitOverride,
  type RateLimitRequest,
} from "../protocol/messages.ts";
import { unitNames } from "../protocol/units.ts";
import { printable } from "../text/printable.ts";
import type { PreparedPart } from "./prepared.ts";

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Merges two objects into a new one. The first value of a key wins; objects merge recursively, lists do not. */
function merge(first: JsonObject, second: JsonObject): JsonObject {
  const merged = new Map<string, JsonValue>(Object.entries(first));
  for (const [key, value] of Object.entries(second)) {
    const kept = merged.get(key);
    if (kept === undefined) merged.set(key, value);
    else if (isObject(kept) && isObject(value)) merged.set(key, merge(kept, value));
  }
  return Object.fromEntries(merged);
}

/** The message in protobuf's text format, on one line, without fields of value 0. */
function limitText({ requestsPerUnit, unit, unitMultiplier }: LimitOverride): string {
  const fields: string[] = [];
  if (requestsPerUnit !== 0) fields.push(`requests_per_unit:${requestsPerUnit}`);
  if (unit !== 0) fields.push(`unit:${unitNames[unit] ?? unit}`);
  if (unitMultiplier !== undefined)
    fields.push(`unit_multiplier:{${unitMultiplier === 0 ? "" : `value:${unitMultiplier}`}}`);
  return fields.join(" ");
}

function describe(descriptor: Descriptor): JsonObject {
  const { entries, limit, hitsAddend } = descriptor;
  return {
    entries: entries.map(({ key, value }) => printable(`${key}=${value}`)),
    ...(limit !== undefined && { limit: limitText(limit) }),
    ...(hitsAddend !== undefined && { hitsAddend }),
  };
}

/**
 * `dynamic_metadata` of the response (`RESPONSE_DYNAMIC_METADATA`): the request, and the merged metadata of the rules
 * whose descriptors passed, in order. Over-limit and unlimited descriptors add nothing.
 */
export function dynamicMetadata(
  request: RateLimitRequest,
  parts: readonly Pick<PreparedPart, "resolution">[],
  statuses: readonly DescriptorStatus[],
): JsonObject {
  let metadata: JsonObject = {};
  parts.forEach(({ resolution: { rule } }, index) => {
    if (rule?.metadata === undefined || rule.unlimited || statuses[index]!.code !== Code.OK) return;
    metadata = merge(metadata, rule.metadata);
  });
  return {
    domain: printable(request.domain),
    descriptors: request.descriptors.map(describe),
    ...(request.hitsAddend > 0 && { hitsAddend: request.hitsAddend }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}
