import { readFileSync } from "node:fs";
import type { Logger } from "../../log.ts";
import type { StatisticsView } from "../../series.ts";
import { SinkConfigError } from "../../sink-config-error.ts";
import type { Counter } from "../../statistics.ts";
import { defaultMapping } from "./default-mapping.ts";
import type { MoreFamilies } from "./exposition.ts";
import { fileMapping } from "./mapper.ts";
import { parseMapperFile } from "./mapper-file.ts";
import type { Mapping } from "./mapping.ts";
import { type PullServer, startPull } from "./metrics-listener.ts";

/** `PULLSTATS_*` */
export interface PullSettings {
  readonly address: string;
  readonly path: string;
  /** `PULLSTATS_MAPPER_YAML`: a path. Absent or empty: the contract's mapping. */
  readonly mapperFile?: string;
  readonly responseTimeAsMilliseconds?: boolean;
  readonly more?: MoreFamilies | undefined;
}

/** Opens the metrics port. `dropped` counts series that are not shown. */
export type OpenPull = (log: Logger, dropped: Counter) => Promise<PullServer>;

/**
 * Reads the mapper file. The returned function opens the metrics port.
 * @throws {SinkConfigError} if the file cannot be used
 */
export function preparePull(view: StatisticsView, pull: PullSettings): OpenPull {
  const mapping = mappingOf(pull);
  return (log, dropped) => startPull(view, { ...pull, mapping, log, dropped });
}

function mappingOf(pull: PullSettings): Mapping {
  const path = pull.mapperFile ?? "";
  if (path === "")
    return defaultMapping({ responseTimeAsMilliseconds: pull.responseTimeAsMilliseconds ?? false });
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new SinkConfigError(`PULLSTATS_MAPPER_YAML: ${path} cannot be read: ${(error as Error).message}`);
  }
  return fileMapping(parseMapperFile(text, path));
}
