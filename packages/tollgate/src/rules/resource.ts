import type { JsonObject } from "../protocol/messages.ts";
import { Unit } from "../protocol/messages.ts";
import { isUnit, unitNames } from "../protocol/units.ts";
import type { DraftConfig, DraftDescriptor, DraftLimit } from "./draft.ts";
import type { Report } from "./report.ts";
import { type RateLimitConfigPolicy, readMore, readRequests } from "./resource-limit.ts";
import type { Location } from "./rule.ts";

/**
 * The xDS resource `ratelimit.config.ratelimit.v3.RateLimitConfig` as plain data, with the names of protobuf's JSON
 * mapping. An absent field and the type's zero value are the same on the wire.
 */
export interface RateLimitConfigResource {
  readonly name: string;
  readonly domain: string;
  readonly descriptors: readonly RateLimitConfigDescriptor[];
}

export interface RateLimitConfigDescriptor {
  readonly key: string;
  readonly value?: string;
  readonly rateLimit?: RateLimitConfigPolicy | undefined;
  readonly rateLimits?: readonly RateLimitConfigPolicy[];
  readonly descriptors?: readonly RateLimitConfigDescriptor[];
  readonly shadowMode?: boolean;
  readonly detailedMetric?: boolean;
  readonly quotaMode?: boolean;
  readonly metadata?: JsonObject | undefined;
}

/** The maximum nesting of a protobuf message. */
const MAX_LEVELS = 100;

export function readResource(resource: RateLimitConfigResource, report: Report): DraftConfig {
  const at = (path: string): Location => ({
    file: resource.name || "(unnamed resource)",
    line: 0,
    column: 0,
    path,
  });
  return {
    file: at("").file,
    domain: resource.domain,
    domainAt: at("domain"),
    descriptors: readDescriptors(resource.descriptors, "descriptors", 1, at, report),
  };
}

type At = (path: string) => Location;

function readDescriptors(
  descriptors: readonly RateLimitConfigDescriptor[] | undefined,
  path: string,
  depth: number,
  at: At,
  report: Report,
): readonly DraftDescriptor[] {
  if (descriptors === undefined || descriptors.length === 0) return [];
  if (depth > MAX_LEVELS) {
    report.add("too-deep", at(path), `nested deeper than ${MAX_LEVELS} levels`);
    return [];
  }
  return descriptors.map((descriptor, index) => {
    const here = `${path}[${index}]`;
    return {
      at: at(here),
      key: descriptor.key,
      keyAt: at(`${here}.key`),
      value: descriptor.value === "" ? undefined : descriptor.value,
      limit: readPolicy(descriptor.rateLimit, `${here}.rate_limit`, at, report),
      ...(descriptor.rateLimits !== undefined &&
        descriptor.rateLimits.length > 0 && {
          limits: readPolicies(descriptor.rateLimits, `${here}.rate_limits`, at, report),
        }),
      shadowMode: descriptor.shadowMode ?? false,
      quotaMode: descriptor.quotaMode ?? false,
      detailedMetric: descriptor.detailedMetric ?? false,
      detailedMetricAt: at(`${here}.detailed_metric`),
      // The resource has no fields for these settings.
      valueToMetric: false,
      shareThreshold: false,
      shareThresholdAt: at(here),
      metadata: descriptor.metadata,
      descriptors: readDescriptors(descriptor.descriptors, `${here}.descriptors`, depth + 1, at, report),
    };
  });
}

function readPolicy(
  policy: RateLimitConfigPolicy | undefined,
  path: string,
  at: At,
  report: Report,
): DraftLimit | undefined {
  if (policy === undefined) return undefined;
  const unlimited = policy.unlimited ?? false;
  const requests = readRequests(policy, path, at, report);
  const more = readMore(policy, path, at, report);
  return {
    at: at(path),
    unlimited,
    unit: readUnit(policy.unit ?? Unit.UNKNOWN, at(`${path}.unit`), report),
    unitAt: at(`${path}.unit`),
    requestsPerUnit: unlimited && requests === 0 ? "missing" : requests,
    requestsPerUnitAt: at(`${path}.requests_per_unit`),
    name: policy.name ?? "",
    nameAt: at(`${path}.name`),
    replaces: (policy.replaces ?? []).map((one, index) => ({
      name: one.name ?? "",
      at: at(`${path}.replaces[${index}].name`),
    })),
    ...(more && { more }),
  };
}

function readPolicies(
  policies: readonly RateLimitConfigPolicy[],
  path: string,
  at: At,
  report: Report,
): NonNullable<DraftDescriptor["limits"]> {
  const items = policies.map((policy, index) => readPolicy(policy, `${path}[${index}]`, at, report)!);
  return { at: at(path), items };
}

function readUnit(unit: number, location: Location, report: Report): Unit | "missing" | undefined {
  if (unit === Unit.UNKNOWN) return "missing";
  if (isUnit(unit)) return unit;
  report.add("unknown-unit", location, `unknown unit number ${unit}: use 1 to ${unitNames.length - 1}`);
  return undefined;
}
