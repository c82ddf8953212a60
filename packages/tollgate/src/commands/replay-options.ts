import type { LoadOptions } from "../rules/check-configs.ts";
import { parseFlags, UsageError, wholeNumber } from "./flags.ts";
import { loadFlags, readLoadFlags } from "./load-flags.ts";

/** The options of `tollgate replay`. */
export interface ReplayOptions extends LoadOptions {
  readonly help: boolean;
  /** Logs as the user wrote them, in the order of time. `-` is standard input. */
  readonly logs: readonly string[];
  /** The candidate: a directory of `*.yaml` files, or one file. */
  readonly config: string;
  /** Keys to list. */
  readonly top: number;
  /** Bytes for counters. */
  readonly storeBytes: number;
  readonly check: boolean;
  readonly json: boolean;
}

export const replayFlags = {
  config: { type: "string" },
  ...loadFlags,
  top: { type: "string" },
  "store-size": { type: "string" },
  check: { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean" },
} as const;

const MIB = 1024 ** 2;
const MAX_STORE_MIB = 4096;
const MAX_TOP = 10_000;

/** @throws {UsageError} */
export function parseReplayOptions(argv: readonly string[]): ReplayOptions {
  const { values, positionals } = parseFlags(argv, replayFlags, true);
  const help = values.help ?? false;
  if (!help && positionals.length === 0)
    throw new UsageError("no log given; pass the file that DECISION_LOG names, or - for standard input");
  if (!help && values.config === undefined)
    throw new UsageError("-config is missing: pass the directory of the configuration to try");
  const storeMib = wholeNumber("-store_size", values["store-size"] ?? "256", 1);
  if (storeMib > MAX_STORE_MIB)
    throw new UsageError(`-store_size ${storeMib}: must be at most ${MAX_STORE_MIB} (MiB)`);
  const top = wholeNumber("-top", values.top ?? "10", 0);
  if (top > MAX_TOP) throw new UsageError(`-top ${top}: must be at most ${MAX_TOP}`);
  return {
    help,
    logs: positionals,
    config: values.config ?? "",
    ...readLoadFlags(values),
    top,
    storeBytes: storeMib * MIB,
    check: values.check ?? false,
    json: values.json ?? false,
  };
}
