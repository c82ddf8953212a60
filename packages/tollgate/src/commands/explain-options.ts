import type { KeyFormatOptions } from "../decision/key-format.ts";
import type { Entry } from "../protocol/messages.ts";
import type { LoadOptions } from "../rules/check-configs.ts";
import { parseEntries, parseFlags, UsageError, wholeNumber } from "./flags.ts";
import { type Backend, loadFlags, readLoadFlags } from "./load-flags.ts";

/** The options of `tollgate explain`. */
export interface ExplainOptions extends LoadOptions {
  readonly help: boolean;
  /** A directory of `*.yaml` files, or one file. */
  readonly config: string;
  readonly domain: string;
  /** The entries of each descriptor. */
  readonly descriptors: readonly (readonly Entry[])[];
  readonly hits: number;
  readonly cacheKeyFormat: KeyFormatOptions["format"];
  readonly cacheKeyPrefix: string;
  readonly backend: Backend;
  readonly json: boolean;
}

export const explainFlags = {
  config: { type: "string" },
  "config-dir": { type: "string" },
  domain: { type: "string" },
  descriptors: { type: "string", multiple: true },
  hits: { type: "string" },
  ...loadFlags,
  "cache-key-format": { type: "string" },
  "cache-key-prefix": { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean" },
} as const;

/** @throws {UsageError} */
export function parseExplainOptions(argv: readonly string[]): ExplainOptions {
  const { values } = parse(argv);
  const help = values.help ?? false;
  const given = (name: string, value: string | undefined, what: string): string => {
    if (value === undefined && !help) throw new UsageError(`-${name} is missing: ${what}`);
    return value ?? "";
  };
  const descriptors = values.descriptors ?? [];
  if (descriptors.length === 0) {
    given("descriptors", undefined, "pass a descriptor, for example -descriptors key=value,key2=value2");
  }
  return {
    help,
    config: given("config", values.config ?? values["config-dir"], "pass the configuration's directory"),
    domain: given("domain", values.domain, "pass the request's domain"),
    descriptors: descriptors.map(parseEntries),
    hits: wholeNumber("-hits", values.hits ?? "1", 0),
    ...readLoadFlags(values),
    cacheKeyFormat: parseFormat(values["cache-key-format"] ?? "tollgate"),
    cacheKeyPrefix: values["cache-key-prefix"] ?? "",
    json: values.json ?? false,
  };
}

function parse(argv: readonly string[]) {
  return parseFlags(argv, explainFlags, false);
}

function parseFormat(text: string): KeyFormatOptions["format"] {
  if (text === "tollgate" || text === "compatible") return text;
  throw new UsageError(`-cache_key_format ${text}: must be tollgate or compatible`);
}
