import type {
  Code,
  CurrentLimit,
  DescriptorStatus,
  HeaderValue,
  RateLimitResponse,
  Unit,
} from "./messages.ts";
import { codeNames, unitNames } from "./units.ts";

/** A message as `responseToJson` writes it: members with zero values are absent. */
interface ResponseJson {
  readonly overallCode?: string;
  readonly statuses?: readonly StatusJson[];
  readonly responseHeadersToAdd?: readonly Partial<HeaderValue>[];
}

interface StatusJson {
  readonly code?: string;
  readonly currentLimit?: LimitJson | null;
  readonly limitRemaining?: number;
  readonly durationUntilReset?: string;
}

type LimitJson = Partial<Omit<CurrentLimit, "unit">> & { readonly unit?: string };

/**
 * Reads the proto3 JSON form of a service's response, without its metadata.
 * @throws {TypeError} for another value
 */
export function responseFromJson(value: unknown): RateLimitResponse {
  try {
    const { overallCode, statuses = [], responseHeadersToAdd = [] } = value as ResponseJson;
    return {
      // Always present. Any other object of JSON would allow the request.
      overallCode: codeOf(overallCode ?? ""),
      statuses: statuses.map(statusOf),
      responseHeadersToAdd: responseHeadersToAdd.map(({ key = "", value: text = "" }) => ({
        key,
        value: text,
      })),
      dynamicMetadata: undefined,
    };
  } catch (error) {
    throw new TypeError("it answers with something that is not the response of a rate limit service", {
      cause: error,
    });
  }
}

function statusOf({
  code,
  currentLimit,
  limitRemaining = 0,
  durationUntilReset,
}: StatusJson): DescriptorStatus {
  return {
    code: codeOf(code),
    currentLimit: currentLimit ? limitOf(currentLimit) : undefined,
    limitRemaining,
    durationUntilReset: durationUntilReset === undefined ? 0 : Number.parseInt(durationUntilReset, 10),
  };
}

function limitOf({ name = "", requestsPerUnit = 0, unit, unitMultiplier }: LimitJson): CurrentLimit {
  return { name, requestsPerUnit, unit: numberOf(unitNames, unit) as Unit, unitMultiplier };
}

function codeOf(name: string | undefined): Code {
  return numberOf(codeNames, name) as Code;
}

/** The number of an enum's name. The first name is the default. */
function numberOf(names: readonly string[], name = names[0]!): number {
  const number = names.indexOf(name);
  if (number < 0) throw new TypeError(`${name} is not one of ${names.join(", ")}`);
  return number;
}
