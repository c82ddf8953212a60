import { Code, type DescriptorStatus, type HeaderValue, type RateLimitResponse } from "./messages.ts";
import { unitNames } from "./units.ts";

const codeNames = ["UNKNOWN", "OK", "OVER_LIMIT"] as const;

/**
 * The proto3 JSON text of a response: lowerCamel names in the protocol's order, enums by name, zero values left out
 * but for `limitRemaining` of a status that is OK under a limit, which the mapping allows and callers look for.
 */
export function responseToJson(response: RateLimitResponse): string {
  let text = `{"overallCode":"${codeNames[response.overallCode]}","statuses":[`;
  for (let index = 0; index < response.statuses.length; index++) {
    if (index > 0) text += ",";
    text += statusToJson(response.statuses[index]!);
  }
  text += "]";
  if (response.responseHeadersToAdd.length > 0) {
    text += `,"responseHeadersToAdd":[${response.responseHeadersToAdd.map(headerToJson).join(",")}]`;
  }
  if (response.dynamicMetadata !== undefined) {
    text += `,"dynamicMetadata":${JSON.stringify(response.dynamicMetadata)}`;
  }
  return `${text}}`;
}

function headerToJson({ key, value }: HeaderValue): string {
  return JSON.stringify({ ...(key !== "" && { key }), ...(value !== "" && { value }) });
}

function statusToJson(status: DescriptorStatus): string {
  let text = `{"code":"${codeNames[status.code]}"`;
  const limit = status.currentLimit;
  if (limit !== undefined) {
    const fields: string[] = [];
    if (limit.name !== "") fields.push(`"name":${JSON.stringify(limit.name)}`);
    if (limit.requestsPerUnit > 0) fields.push(`"requestsPerUnit":${limit.requestsPerUnit}`);
    fields.push(`"unit":"${unitNames[limit.unit]}"`);
    text += `,"currentLimit":{${fields.join(",")}}`;
  }
  if (status.limitRemaining > 0 || (limit !== undefined && status.code === Code.OK)) {
    text += `,"limitRemaining":${status.limitRemaining}`;
  }
  if (status.durationUntilReset > 0) text += `,"durationUntilReset":"${status.durationUntilReset}s"`;
  return `${text}}`;
}
