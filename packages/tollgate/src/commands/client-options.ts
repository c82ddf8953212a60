import type { Descriptor } from "../protocol/messages.ts";
import { parseEntries, parseFlags, UsageError, wholeNumber } from "./flags.ts";

/** The options of `tollgate client`. */
export interface ClientOptions {
  readonly help: boolean;
  readonly dialString: string;
  readonly domain: string;
  readonly descriptors: readonly Descriptor[];
  /** Undefined: not sent; the service then counts 1. */
  readonly hits: number | undefined;
  readonly repeat: number;
  readonly json: boolean;
  readonly check: boolean;
  /** Milliseconds. */
  readonly timeout: number;
  readonly tls: ClientTlsOptions | undefined;
  /** Undefined: no tracing. */
  readonly otlpProtocol: "http" | "grpc" | undefined;
}

export interface ClientTlsOptions {
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly serverName: string | undefined;
}

export const clientFlags = {
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
  // The Go service's client spells the flag this way.
  "oltp-protocol": { type: "string" },
  "grpc-use-tls": { type: "boolean" },
  "grpc-server-ca-file": { type: "string" },
  "grpc-cert-file": { type: "string" },
  "grpc-key-file": { type: "string" },
  "grpc-server-name": { type: "string" },
  help: { type: "boolean" },
} as const;

/** @throws {UsageError} */
export function parseClientOptions(argv: readonly string[]): ClientOptions {
  const { values } = parse(argv);
  const descriptors = values.descriptors ?? [];
  const domain = values.domain ?? "";
  if (!values.help) {
    if (domain === "")
      throw new UsageError("-domain is missing: pass the domain of the rules, for example -domain messaging");
    if (descriptors.length === 0) {
      throw new UsageError(
        "-descriptors is missing: pass a descriptor, for example -descriptors key=value,key2=value2",
      );
    }
  }
  const hits = values.hits === undefined ? undefined : wholeNumber("-hits", values.hits, 0);
  const negative = values.negative ?? false;
  const dialString = values["dial-string"] ?? "localhost:8081";
  if (dialString === "") throw new UsageError("-dial_string is empty: must be host:port or unix:PATH");
  return {
    help: values.help ?? false,
    dialString,
    domain,
    descriptors: descriptors.map((text) => ({
      entries: parseEntries(text),
      limit: undefined,
      // A request's hits_addend of 0 means 1, but a descriptor's 0 means 0. So each descriptor contains the number.
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
  return parseFlags(argv, clientFlags, false);
}

function tlsOptions(values: ReturnType<typeof parse>["values"]): ClientTlsOptions | undefined {
  const tls: ClientTlsOptions = {
    caFile: values["grpc-server-ca-file"],
    certFile: values["grpc-cert-file"],
    keyFile: values["grpc-key-file"],
    serverName: values["grpc-server-name"],
  };
  if ((tls.certFile === undefined) !== (tls.keyFile === undefined)) {
    throw new UsageError(
      "-grpc-cert-file and -grpc-key-file must be given together: a certificate needs its key",
    );
  }
  const usesTls = values["grpc-use-tls"] ?? Object.values(tls).some((value) => value !== undefined);
  return usesTls ? tls : undefined;
}

function otlpProtocol(text: string | undefined): "http" | "grpc" | undefined {
  if (text === undefined || text === "http" || text === "grpc") return text;
  throw new UsageError(`-otlp-protocol ${text}: must be http or grpc`);
}

function duration(text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text) ?? [];
  const milliseconds = unit === undefined ? 0 : Number(amount) * { ms: 1, s: 1000, m: 60_000 }[unit as "s"];
  if (milliseconds <= 0) throw new UsageError(`-timeout ${text}: must be a duration such as 500ms, 5s or 1m`);
  return milliseconds;
}
