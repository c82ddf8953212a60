import type { DecisionOptions } from "../decision/decide.ts";
import { createKeyFormat } from "../decision/key-format.ts";
import type { GrpcListenerOptions } from "../listeners/grpc-listener.ts";
import type { ActiveOverrides } from "../overrides/table.ts";
import type { Settings } from "../settings/settings.ts";

/** The settings of the decision. @param overrides what operators change; default: nothing */
export function decisionOptions(
  { decision, store, objcache }: Settings,
  overrides?: ActiveOverrides,
): DecisionOptions {
  return {
    overrides,
    keyFormat: createKeyFormat({
      format: store.cacheKeyFormat,
      prefix: decision.cacheKeyPrefix,
      backend: store.backend,
      neverHash: objcache?.longKeys === "fail",
    }),
    nearLimitRatio: decision.nearLimitRatio,
    shadowMode: decision.shadowMode,
    quotaMode: decision.quotaMode,
    stopIncrementing: decision.stopIncrementing,
    dynamicMetadata: decision.dynamicMetadata,
    headers: decision.headers,
  };
}

/** The settings of the gRPC listener, except for its address. */
export function grpcListenerOptions(
  { grpc, requests }: Settings,
  threads: number,
): Pick<
  GrpcListenerOptions,
  "maxRequestBytes" | "clientSan" | "maxConnectionAge" | "maxConnectionAgeGrace" | "threads"
> {
  return {
    threads,
    maxRequestBytes: requests.maxBytes,
    clientSan: grpc.tls?.clientSan,
    maxConnectionAge: grpc.maxConnectionAge,
    maxConnectionAgeGrace: grpc.maxConnectionAgeGrace,
  };
}
