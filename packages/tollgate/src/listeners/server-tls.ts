import type { PeerCertificate, SecureContextOptions } from "node:tls";
import { TLS_CIPHER_SUITES } from "@tollway/grpc-wire";
import type { Logger } from "../observe/log.ts";
import { carriesDnsName } from "./peer-name.ts";

/** A certificate chain, its key, and the authorities that must have signed callers' certificates, in PEM. */
export interface Certificates {
  readonly cert: string;
  readonly key: string;
  /** If set, callers must present a certificate. */
  readonly ca: string | undefined;
}

/** TLS options of an HTTP listener, with the versions and cipher suites of the gRPC port. */
export function contextOptions({ cert, key, ca }: Certificates): SecureContextOptions {
  return {
    cert,
    key,
    ...(ca !== undefined && { ca }),
    minVersion: "TLSv1.2",
    ciphers: TLS_CIPHER_SUITES,
    secureOptions: process.getBuiltinModule("node:crypto").constants.SSL_OP_NO_RENEGOTIATION,
  };
}

/** Whether a caller's certificate has the DNS name that the settings require. Logs a refusal. */
export function isTrusted(peer: PeerCertificate, clientSan: string, log: Logger): boolean {
  const fits = carriesDnsName(peer, clientSan);
  if (!fits) log.warn(`refused a caller: its certificate does not have the DNS name ${clientSan}`);
  return fits;
}
