import { parseArgs } from "node:util";
import { LONGEST_KEYS } from "../decision/cache-key.ts";
import type { Entry } from "../protocol/messages.ts";
import { normaliseFlags } from "./check-options.ts";
import { parseEntries, UsageError } from "./client-options.ts";

/** What `tollgate explain` was asked to do. */
export interface ExplainOptions {
  readonly help: boolean;
  /** A directory of `*.yaml` files, or one file. */
  readonly config: string;
  readonly mergeDomains: boolean;
  readonly domain: string;
  /** The entries of each descriptor. */
  readonly descriptors: readonly (readonly Entry[])[];
  readonly hits: number;
  readonly cacheKeyPrefix: string;
  readonly backend: keyof typeof LONGEST_KEYS;
  readonly json: boolean;
}

export const explainUsage = `usage: tollgate explain --config DIR --domain D --descriptors a=b,c=d [flags]

Shows which rule a request would meet and why, its cache key, its window and its metric key. Counts nothing.
One or two dashes; - and _ are alike.

  -config DIR              the configuration: a directory of *.yaml files, or one file
  -domain DOMAIN           the request's domain
  -descriptors k=v,k2=v2   one descriptor; repeat the flag for several. \\, is a comma inside a value
  -hits N                  hits for every descriptor; 0 only looks; default 1
  -merge_domain_configs    several files may define one domain (MERGE_DOMAIN_CONFIG=true)
  -cache_key_prefix TEXT   the service's CACHE_KEY_PREFIX
  -backend_type TYPE       the service's BACKEND_TYPE: embedded (default), kvstore, objcache; it hashes longer keys
  -json                    print JSON

A running service explains its own rules and counters: POST the body of a /json call to /explain on its debug port.
Exit status: 0, 1 when the configuration has errors, 2 when the flags are wrong or a path cannot be read.
`;

const flags = {
  config: { type: "string" },
  "config-dir": { type: "string" },
  domain: { type: "string" },
  descriptors: { type: "string", multiple: true },
  hits: { type: "string" },
  "merge-domain-configs": { type: "boolean" },
  "cache-key-prefix": { type: "string" },
  "backend-type": { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean" },
} as const;

/** @throws {UsageError} */
export function parseExplainOptions(argv: readonly string[]): ExplainOptions {
  const values = parse(argv);
  const help = values.help ?? false;
  const given = (name: string, value: string | undefined, what: string): string => {
    if (value === undefined && !help) throw new UsageError(`-${name} is missing: ${what}`);
    return value ?? "";
  };
  const descriptors = values.descriptors ?? [];
  if (descriptors.length === 0) {
    given("descriptors", undefined, "what to explain, as in -descriptors key=value,key2=value2");
  }
  return {
    help,
    config: given("config", values.config ?? values["config-dir"], "the configuration's directory"),
    domain: given("domain", values.domain, "the request's domain"),
    descriptors: descriptors.map(parseEntries),
    hits: parseHits(values.hits ?? "1"),
    mergeDomains: values["merge-domain-configs"] ?? false,
    cacheKeyPrefix: values["cache-key-prefix"] ?? "",
    backend: parseBackend(values["backend-type"] ?? "embedded"),
    json: values.json ?? false,
  };
}

function parse(argv: readonly string[]) {
  try {
    const args = normaliseFlags(argv, flags);
    return parseArgs({ args, options: flags, strict: true, allowPositionals: false, allowNegative: true })
      .values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function parseBackend(text: string): keyof typeof LONGEST_KEYS {
  if (Object.hasOwn(LONGEST_KEYS, text)) return text as keyof typeof LONGEST_KEYS;
  throw new UsageError(`-backend_type ${text}: must be ${Object.keys(LONGEST_KEYS).join(", ")}`);
}

function parseHits(text: string): number {
  const hits = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(hits)) throw new UsageError(`-hits ${text}: must be a whole number, 0 or more`);
  return hits;
}
