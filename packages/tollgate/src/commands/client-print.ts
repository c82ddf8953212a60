import { create, toJsonString } from "@bufbuild/protobuf";
import {
  type RateLimitResponse,
  type RateLimitResponse_Code,
  type RateLimitResponse_DescriptorStatus,
  RateLimitResponseSchema,
} from "../protocol/gen/envoy/service/ratelimit/v3/rls_pb.ts";
import type { Descriptor } from "../protocol/messages.ts";
import { codeNames, unitNames } from "../protocol/units.ts";

/** Formats a response as a line of proto3 JSON. */
export function renderJson(response: RateLimitResponse): string {
  return `${toJsonString(RateLimitResponseSchema, create(RateLimitResponseSchema, response))}\n`;
}

/**
 * Formats a response for people:
 *
 *     OVER_LIMIT  0.8 ms
 *       to_number=1,day=2  OK          9 of 10 per MINUTE left, resets in 55 s
 *       to_number=1        OVER_LIMIT  0 of 5 per HOUR left ("daily"), resets in 3595 s
 */
export function renderText(
  response: RateLimitResponse,
  descriptors: readonly Descriptor[],
  milliseconds: number,
): string {
  const names = descriptors.map(({ entries }) =>
    entries.map(({ key, value }) => `${key}=${value}`).join(","),
  );
  const width = Math.max(...names.map((name) => name.length));
  const lines = [`${codeName(response.overallCode)}  ${milliseconds.toFixed(1)} ms`];
  response.statuses.forEach((status, index) => {
    const name = (names[index] ?? "").padEnd(width);
    lines.push(`  ${name}  ${codeName(status.code).padEnd(10)}  ${describe(status)}`.trimEnd());
  });
  for (const { key, value } of response.responseHeadersToAdd) lines.push(`  ${key}: ${value}`);
  if (response.dynamicMetadata !== undefined)
    lines.push(`  metadata ${JSON.stringify(response.dynamicMetadata)}`);
  return `${lines.join("\n")}\n`;
}

export function codeName(code: RateLimitResponse_Code): string {
  return codeNames[code] ?? `code ${code}`;
}

const UNLIMITED = 0xffff_ffff;

function describe(status: RateLimitResponse_DescriptorStatus): string {
  const limit = status.currentLimit;
  if (limit === undefined) return status.limitRemaining === UNLIMITED ? "unlimited" : "no limit";
  const unitName = unitNames[limit.unit] ?? `unit ${limit.unit}`;
  const unit = limit.unitMultiplier === undefined ? unitName : `${limit.unitMultiplier} ${unitName}`;
  const name = limit.name === "" ? "" : ` (${JSON.stringify(limit.name)})`;
  const reset = status.durationUntilReset;
  const until = reset === undefined ? "" : `, resets in ${reset.seconds} s`;
  return `${status.limitRemaining} of ${limit.requestsPerUnit} per ${unit} left${name}${until}`;
}
