import type { Logger } from "../observe/log.ts";
import type { Registry } from "../observe/registry.ts";
import type { RunningSinks, SinksOptions } from "../observe/sinks/start.ts";
import type { TopKeys } from "../observe/top-keys/top-keys.ts";
import { topKeysMetrics } from "../observe/top-keys/top-keys-metrics.ts";
import type { Settings } from "../settings/settings.ts";
import { showAddress } from "../text/address.ts";

/** Opens the configured sinks. Undefined, and without loading their code, if none is configured. */
export async function openSinks(
  { stats, topKeys: keys }: Settings,
  registry: Registry,
  log: Logger,
  topKeys: TopKeys,
): Promise<RunningSinks | undefined> {
  const { push, agent, pull, standardOutput } = stats;
  if (push === undefined && agent === undefined && pull === undefined && !standardOutput) return undefined;
  const options: SinksOptions = {
    flushInterval: stats.flushInterval,
    ...(push !== undefined && { push }),
    ...(agent !== undefined && {
      agent: {
        host: agent.host,
        port: agent.port,
        mogrifiers: agent.mogrifiers.map(({ name, pattern, replacement, tags }) => ({
          name,
          pattern,
          emit: replacement,
          tags: Object.fromEntries(tags),
        })),
      },
    }),
    ...(pull !== undefined && {
      pull: {
        address: showAddress(pull.address.host, pull.address.port),
        path: pull.path,
        ...(pull.mapperFile !== undefined && { mapperFile: pull.mapperFile }),
        responseTimeAsMilliseconds: pull.responseTimeAsMilliseconds,
        ...(keys !== undefined && keys.metrics > 0 && { more: () => topKeysMetrics(topKeys, keys.metrics) }),
      },
    }),
    ...(standardOutput && { output: true }),
  };
  const { startSinks } = await import("../observe/sinks/start.ts");
  return startSinks(registry, log, options);
}
