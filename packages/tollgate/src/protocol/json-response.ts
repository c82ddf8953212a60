import {
  Code,
  type CurrentLimit,
  type DescriptorStatus,
  type HeaderValue,
  type JsonObject,
  type RateLimitResponse,
} from "./messages.ts";
import { codeNames, unitNames } from "./units.ts";

/**
 * The proto3 JSON form of a response, for `JSON.stringify`: lowerCamel names in the protocol's order, enums by name,
 * without zero values. `limitRemaining` is written even if it is 0 when a limited status is OK, because callers read it;
 * the mapping allows it.
 */
export function responseToJson(response: RateLimitResponse): JsonObject {
  return {
    overallCode: codeNames[response.overallCode],
    ...(response.statuses.length > 0 && { statuses: response.statuses.map(statusToJson) }),
    ...(response.responseHeadersToAdd.length > 0 && {
      responseHeadersToAdd: response.responseHeadersToAdd.map(headerToJson),
    }),
    ...(response.dynamicMetadata !== undefined && { dynamicMetadata: response.dynamicMetadata }),
  };
}

function statusToJson(status: DescriptorStatus): JsonObject {
  const { code, currentLimit, limitRemaining, durationUntilReset } = status;
  const showsZero = currentLimit !== undefined && code === Code.OK;
  return {
    code: codeNames[code],
    ...(currentLimit !== undefined && { currentLimit: limitToJson(currentLimit) }),
    ...((limitRemaining > 0 || showsZero) && { limitRemaining }),
    ...(durationUntilReset > 0 && { durationUntilReset: `${durationUntilReset}s` }),
  };
}

function limitToJson({ name, requestsPerUnit, unit, unitMultiplier }: CurrentLimit): JsonObject {
  return {
    ...(name !== "" && { name }),
    ...(requestsPerUnit > 0 && { requestsPerUnit }),
    unit: unitNames[unit],
    ...(unitMultiplier !== undefined && { unitMultiplier }),
  };
}

function headerToJson({ key, value }: HeaderValue): JsonObject {
  return { ...(key !== "" && { key }), ...(value !== "" && { value }) };
}
