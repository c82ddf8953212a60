import { parseArgs } from "node:util";
import { EntriesTextError, entriesFromText } from "../protocol/entries-text.ts";
import type { Descriptor, Entry } from "../protocol/messages.ts";

/** What `tollgate client` was asked to do. */
export interface ClientOptions {
  readonly help: boolean;
  readonly dialString: string;
  readonly domain: string;
  readonly descriptors: readonly Descriptor[];
  /** Undefined: not sent, which counts as 1. */
  readonly hits: number | undefined;
  readonly repeat: number;
  readonly json: boolean;
  readonly check: boolean;
  /** Milliseconds. */
  readonly timeout: number;
  readonly tls: ClientTlsOptions | undefined;
  /** Undefined: calls are not traced. */
  readonly otlpProtocol: "http" | "grpc" | undefined;
}

export interface ClientTlsOptions {
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly serverName: string | undefined;
}

/** A command line that cannot be understood. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly code = "USAGE";
}

export const clientUsage = `usage: tollgate client [flags]

Asks a rate limit service over gRPC. One or two dashes; - and _ are alike.

  -dial_string ADDRESS     host:port or unix:PATH; default localhost:8081
  -domain DOMAIN           required
  -descriptors k=v,k2=v2   one descriptor; repeat the flag for several. \\, is a comma inside a value
  -hits N                  hits for every descriptor; 0 only looks (default: not sent, which counts as 1)
  -negative                give the hits back instead
  -repeat N                ask N times, one after the other; default 1
  -json                    print each answer as a line of JSON
  -check                   exit with status 2 when an answer is over limit
  -timeout DURATION        per call, such as 500ms or 5s; default 5s
  -otlp-protocol P         trace the calls, and export the spans over http or grpc (OTEL_EXPORTER_OTLP_*)
  -grpc-use-tls            speak TLS; implied by the files below
  -grpc-server-ca-file F   the server's certificate authority
  -grpc-cert-file F        this client's certificate, and
  -grpc-key-file F         its key
  -grpc-server-name NAME   the name that the server's certificate must have; default: the address's host

Exit status: 0 when every call was answered, 1 when one failed or the flags are wrong, 2 over limit with -check.
`;

const flags = {
  "dial-string": { type: "string" },
  domain: { type: "string" },
  descriptors: { type: "string", multiple: true },
  hits: { type: "string" },
  negative: { type: "boolean" },
  repeat: { type: "string" },
  json: { type: "boolean" },
  check: { type: "boolean" },
  timeout: { type: "string" },
  "otlp-protocol": { type: "string" },
  // As the Go service's client spells it.
  "oltp-protocol": { type: "string" },
  "grpc-use-tls": { type: "boolean" },
  "grpc-server-ca-file": { type: "string" },
  "grpc-cert-file": { type: "string" },
  "grpc-key-file": { type: "string" },
  "grpc-server-name": { type: "string" },
  help: { type: "boolean" },
} as const;

/** Go's flags: one dash or two, `_` where we say `-`. Only what names a flag is touched, never a value. */
function normalise(argv: readonly string[]): string[] {
  return argv.map((word) => {
    const match = /^--?([a-z][a-z_-]*)(=.*)?$/s.exec(word);
    if (match === null) return word;
    const name = match[1] === "h" ? "help" : match[1]!.replaceAll("_", "-");
    return Object.hasOwn(flags, name) ? `--${name}${match[2] ?? ""}` : word;
  });
}

/** @throws {UsageError} */
export function parseClientOptions(argv: readonly string[]): ClientOptions {
  const values = parse(argv);
  const descriptors = values.descriptors ?? [];
  const domain = values.domain ?? "";
  if (!values.help) {
    if (domain === "")
      throw new UsageError("-domain is missing: the container of the rules to ask, as in -domain messaging");
    if (descriptors.length === 0) {
      throw new UsageError(
        "-descriptors is missing: what to ask about, as in -descriptors key=value,key2=value2",
      );
    }
  }
  const hits = values.hits === undefined ? undefined : wholeNumber("-hits", values.hits, 0);
  const negative = values.negative ?? false;
  const dialString = values["dial-string"] ?? "localhost:8081";
  if (dialString === "") throw new UsageError("-dial_string is empty: it must be host:port or unix:PATH");
  return {
    help: values.help ?? false,
    dialString,
    domain,
    descriptors: descriptors.map((text) => ({
      entries: parseEntries(text),
      limit: undefined,
      // A request's hits_addend of 0 means 1, so a number is sent with each descriptor, where 0 is 0.
      hitsAddend: hits,
      isNegativeHits: negative,
    })),
    hits,
    repeat: values.repeat === undefined ? 1 : wholeNumber("-repeat", values.repeat, 1),
    json: values.json ?? false,
    check: values.check ?? false,
    timeout: values.timeout === undefined ? 5000 : duration(values.timeout),
    tls: tlsOptions(values),
    otlpProtocol: otlpProtocol(values["otlp-protocol"] ?? values["oltp-protocol"]),
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: normalise(argv), options: flags, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function tlsOptions(values: ReturnType<typeof parse>): ClientTlsOptions | undefined {
  const tls: ClientTlsOptions = {
    caFile: values["grpc-server-ca-file"],
    certFile: values["grpc-cert-file"],
    keyFile: values["grpc-key-file"],
    serverName: values["grpc-server-name"],
  };
  if ((tls.certFile === undefined) !== (tls.keyFile === undefined)) {
    throw new UsageError(
      "-grpc-cert-file and -grpc-key-file go together: a certificate is no use without its key",
    );
  }
  const asked = values["grpc-use-tls"] ?? Object.values(tls).some((value) => value !== undefined);
  return asked ? tls : undefined;
}

function otlpProtocol(text: string | undefined): "http" | "grpc" | undefined {
  if (text === undefined || text === "http" || text === "grpc") return text;
  throw new UsageError(`-otlp-protocol ${text}: must be http or grpc`);
}

/** @throws {UsageError} */
export function parseEntries(text: string): Entry[] {
  try {
    return entriesFromText(text);
  } catch (error) {
    if (!(error instanceof EntriesTextError)) throw error;
    throw new UsageError(`-descriptors ${text}: ${error.message}`);
  }
}

function wholeNumber(flag: string, text: string, minimum: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(number) || number < minimum) {
    throw new UsageError(`${flag} ${text}: must be a whole number, ${minimum} or more`);
  }
  return number;
}

function duration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text);
  const milliseconds =
    match === null ? 0 : Number(match[1]) * { ms: 1, s: 1000, m: 60_000 }[match[2] as "s"]!;
  if (milliseconds <= 0) throw new UsageError(`-timeout ${text}: must be a duration such as 500ms, 5s or 1m`);
  return milliseconds;
}
