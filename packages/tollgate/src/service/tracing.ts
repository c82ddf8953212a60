import type { Logger } from "../observe/log.ts";
import { noTracing, startTracing, type Tracing } from "../observe/tracing/tracing.ts";
import type { Environment } from "../settings/reading.ts";
import type { Settings } from "../settings/settings.ts";

/** Tracing as the settings ask for it; off costs a comparison a call, and loads nothing. */
export async function openTracing({ tracing }: Settings, log: Logger): Promise<Tracing> {
  return tracing === undefined ? noTracing : startTracing({ ...tracing, log });
}

/** The environment for threads: an instance id that was made by chance is the same in all of them. */
export function withInstanceId(environment: Environment, { tracing }: Settings): Environment {
  if (tracing === undefined) return environment;
  return { ...environment, TRACING_SERVICE_INSTANCE_ID: tracing.serviceInstanceId };
}
