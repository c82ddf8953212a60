import type { Logger } from "../observe/log.ts";
import { startTracing } from "../observe/tracing/start-tracing.ts";
import { noTracing, type Tracing } from "../observe/tracing/tracing.ts";
import type { Environment } from "../settings/read-values.ts";
import type { Settings } from "../settings/settings.ts";

/** Opens tracing. If it is off, it costs one comparison for each call and loads no code. */
export async function openTracing({ tracing }: Settings, log: Logger): Promise<Tracing> {
  return tracing === undefined ? noTracing : startTracing({ ...tracing, log });
}

/** The environment for the threads, with the instance id: a random one must be the same in all of them. */
export function withInstanceId(environment: Environment, { tracing }: Settings): Environment {
  if (tracing === undefined) return environment;
  return { ...environment, TRACING_SERVICE_INSTANCE_ID: tracing.serviceInstanceId };
}
