import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";

/** TLS to a store. The files are PEM. Each new connection reads them again, so renewed files take effect. */
export interface ClientTlsOptions {
  /** The client's certificate chain; needs `keyFile`. Default: no client certificate. */
  readonly certFile?: string;
  /** The client's private key; needs `certFile`. */
  readonly keyFile?: string;
  /** The trusted certificate authorities. Default: those of this thread (`node:tls`). */
  readonly caFile?: string;
  /** Verifies the chain, but not the name in the server's certificate. Default: false. */
  readonly skipHostnameVerification?: boolean;
}

function read(file: string, what: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new TypeError(`TLS: cannot read the ${what} ${file} (${(cause as NodeJS.ErrnoException).code})`, {
      cause,
    });
  }
}

/**
 * Options for `tls.connect`.
 * @throws {TypeError} for an unreadable file, or a certificate without its key, or a key without its certificate
 */
export function tlsConnectionOptions(options: ClientTlsOptions): ConnectionOptions {
  const { certFile, keyFile, caFile } = options;
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new TypeError("TLS: a client certificate needs its key, and a key needs its certificate");
  return {
    minVersion: "TLSv1.2",
    ...(certFile !== undefined && { cert: read(certFile, "client certificate") }),
    ...(keyFile !== undefined && { key: read(keyFile, "client key") }),
    ...(caFile !== undefined && { ca: read(caFile, "CA certificate") }),
    ...(options.skipHostnameVerification === true && { checkServerIdentity: () => undefined }),
  };
}
