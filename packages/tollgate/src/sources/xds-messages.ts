import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import {
  DiscoveryRequestSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from "../protocol/gen/envoy/service/discovery/v3/discovery_pb.ts";
import { RateLimitConfigSchema } from "../protocol/gen/ratelimit/config/ratelimit/v3/rls_conf_pb.ts";
import type { Diagnostic } from "../rules/diagnostic.ts";
import type { RateLimitConfigResource } from "../rules/resource.ts";
import { diagnose } from "./source.ts";

/** The type of the requested resources. */
export const TYPE_URL = `type.googleapis.com/${RateLimitConfigSchema.typeName}`;

/** `google.rpc.Code` */
const INVALID_ARGUMENT = 3;

/** Maximum number of characters in a refusal, far below the message limits of servers. */
const MAX_REFUSAL = 16_384;

export interface RequestFields {
  /** Empty for none. */
  readonly version: string;
  /** Empty for none. */
  readonly nonce: string;
  /** The node. Present in the first request of a stream. */
  readonly node?: { readonly id: string; readonly metadata: readonly (readonly [string, string])[] };
  /** The reason for refusing the last response. */
  readonly refusal?: string;
}

/** Serializes a `DiscoveryRequest`. */
export function encodeRequest({ version, nonce, node, refusal }: RequestFields): Uint8Array {
  const fields: MessageInitShape<typeof DiscoveryRequestSchema> = {
    versionInfo: version,
    responseNonce: nonce,
    typeUrl: TYPE_URL,
  };
  if (node !== undefined) fields.node = { id: node.id, metadata: Object.fromEntries(node.metadata) };
  if (refusal !== undefined)
    fields.errorDetail = {
      code: INVALID_ARGUMENT,
      message: refusal.length > MAX_REFUSAL ? `${refusal.slice(0, MAX_REFUSAL)}...` : refusal,
    };
  return toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, fields));
}

/**
 * Parses a `DiscoveryResponse`.
 * @throws {Error} if the bytes are invalid
 */
export function decodeResponse(bytes: Uint8Array): DiscoveryResponse {
  return fromBinary(DiscoveryResponseSchema, bytes);
}

/** Parses all resources of a response. Each invalid resource gives an error. */
export function decodeResources(resources: readonly Pick<Any, "typeUrl" | "value">[]): {
  readonly resources: readonly RateLimitConfigResource[];
  readonly diagnostics: readonly Diagnostic[];
} {
  const read: RateLimitConfigResource[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const [index, { typeUrl, value }] of resources.entries()) {
    const refuse = (message: string): void => {
      diagnostics.push(diagnose("undecodable-resource", `resources[${index}]`, message));
    };
    if (typeUrl !== TYPE_URL) {
      refuse(`has the type ${JSON.stringify(typeUrl)}: must be ${TYPE_URL}`);
      continue;
    }
    try {
      read.push(fromBinary(RateLimitConfigSchema, value));
    } catch (error) {
      refuse(`cannot be decoded: ${(error as Error).message}`);
    }
  }
  return { resources: read, diagnostics };
}
