import { LONGEST_KEYS } from "../decision/cache-key.ts";
import type { KeyFormatOptions } from "../decision/key-format.ts";
import type { Entry } from "../protocol/messages.ts";
import { parseEntries, parseFlags, UsageError, wholeNumber } from "./flags.ts";

/** The options of `tollgate explain`. */
export interface ExplainOptions {
  readonly help: boolean;
  /** A directory of `*.yaml` files, or one file. */
  readonly config: string;
  readonly mergeDomains: boolean;
  readonly domain: string;
  /** The entries of each descriptor. */
  readonly descriptors: readonly (readonly Entry[])[];
  readonly hits: number;
  readonly cacheKeyFormat: KeyFormatOptions["format"];
  readonly cacheKeyPrefix: string;
  readonly backend: keyof typeof LONGEST_KEYS;
  readonly json: boolean;
}

export const explainFlags = {
  config: { type: "string" },
  "config-dir": { type: "string" },
  domain: { type: "string" },
  descriptors: { type: "string", multiple: true },
  hits: { type: "string" },
  "merge-domain-configs": { type: "boolean" },
  "cache-key-format": { type: "string" },
  "cache-key-prefix": { type: "string" },
  "backend-type": { type: "string" },
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
    mergeDomains: values["merge-domain-configs"] ?? false,
    cacheKeyFormat: parseFormat(values["cache-key-format"] ?? "tollgate"),
    cacheKeyPrefix: values["cache-key-prefix"] ?? "",
    backend: parseBackend(values["backend-type"] ?? "embedded"),
    json: values.json ?? false,
  };
}

function parse(argv: readonly string[]) {
  return parseFlags(argv, explainFlags, false);
}

function parseBackend(text: string): keyof typeof LONGEST_KEYS {
  if (Object.hasOwn(LONGEST_KEYS, text)) return text as keyof typeof LONGEST_KEYS;
  throw new UsageError(`-backend_type ${text}: must be one of ${Object.keys(LONGEST_KEYS).join(", ")}`);
}

function parseFormat(text: string): KeyFormatOptions["format"] {
  if (text === "tollgate" || text === "compatible") return text;
  throw new UsageError(`-cache_key_format ${text}: must be tollgate or compatible`);
}
