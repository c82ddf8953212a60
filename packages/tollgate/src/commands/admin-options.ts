import { parseFlags, UsageError, wholeNumber } from "./flags.ts";
import type { CommandIo } from "./io.ts";

/** Flags of every command that calls the admin API. */
const connectionFlags = {
  admin: { type: "string" },
  "token-file": { type: "string" },
  "ca-file": { type: "string" },
  "cert-file": { type: "string" },
  "key-file": { type: "string" },
  timeout: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean" },
} as const;

export const countersFlags = {
  ...connectionFlags,
  domain: { type: "string" },
  descriptor: { type: "string" },
  prefix: { type: "string" },
  most: { type: "string" },
  next: { type: "string" },
  limit: { type: "string" },
  hits: { type: "string" },
  reason: { type: "string" },
} as const;

export const overridesFlags = {
  ...connectionFlags,
  domain: { type: "string" },
  descriptor: { type: "string" },
  limit: { type: "string" },
  "requests-per-unit": { type: "string" },
  burst: { type: "string" },
  unlimited: { type: "boolean" },
  expires: { type: "string" },
  for: { type: "string" },
  reason: { type: "string" },
} as const;

export const auditFlags = { ...connectionFlags, most: { type: "string" } } as const;

/** The address of the admin API, and the credentials of the caller. */
export interface AdminConnection {
  readonly url: URL;
  readonly token: string | undefined;
  readonly tokenFile: string | undefined;
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  /** Milliseconds. */
  readonly timeout: number;
}

/** Given flags without dashes, and the words that are not flags. */
export interface AdminArguments {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly words: readonly string[];
}

/** @throws {UsageError} */
export function parseAdminFlags(
  argv: readonly string[],
  flags: Readonly<Record<string, { type: "string" | "boolean" }>>,
): AdminArguments {
  const { values, positionals } = parseFlags(argv, flags, true);
  return { values: values as AdminArguments["values"], words: positionals };
}

/** The address and the credential; from the environment, unless flags give them. @throws {UsageError} */
export function connectionOf({ values }: AdminArguments, io: CommandIo): AdminConnection {
  const address = textOf(values, "admin") ?? io.env.TOLLGATE_ADMIN ?? "localhost:8082";
  const certFile = textOf(values, "cert-file");
  const keyFile = textOf(values, "key-file");
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new UsageError("-cert-file and -key-file must be given together: a certificate needs its key");
  const caFile = textOf(values, "ca-file");
  return {
    url: urlOf(address, caFile !== undefined || certFile !== undefined),
    token: io.env.TOLLGATE_ADMIN_TOKEN || undefined,
    tokenFile: textOf(values, "token-file"),
    caFile,
    certFile,
    keyFile,
    timeout: milliseconds("-timeout", textOf(values, "timeout") ?? "10s"),
  };
}

function urlOf(address: string, usesTls: boolean): URL {
  const text = /^https?:\/\//.test(address) ? address : `${usesTls ? "https" : "http"}://${address}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== "" || url.pathname !== "/" || url.search !== "")
    throw new UsageError(`-admin ${address}: must be host:port or https://host:port`);
  return url;
}

export function textOf(values: AdminArguments["values"], name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
}

/** @throws {UsageError} */
export function required(values: AdminArguments["values"], name: string, example: string): string {
  const text = textOf(values, name);
  if (text === undefined || text === "")
    throw new UsageError(`-${name} is missing: for example -${name} ${example}`);
  return text;
}

/** @throws {UsageError} */
export function numberOf(values: AdminArguments["values"], name: string, least: number): number | undefined {
  const text = textOf(values, name);
  return text === undefined ? undefined : wholeNumber(`-${name}`, text, least);
}

/** @throws {UsageError} for a flag that the subcommand does not use */
export function allowOnly({ values }: AdminArguments, command: string, names: readonly string[]): void {
  for (const name of Object.keys(values))
    if (!Object.hasOwn(connectionFlags, name) && !names.includes(name))
      throw new UsageError(`-${name} has no meaning for ${command}`);
}

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** @throws {UsageError} */
export function milliseconds(flag: string, text: string): number {
  const [, amount, unit] = /^(\d{1,9}(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const value = unit === undefined ? 0 : Number(amount) * UNITS[unit as keyof typeof UNITS];
  if (value <= 0) throw new UsageError(`${flag} ${text}: must be a duration such as 30s, 15m, 2h or 1d`);
  return value;
}
