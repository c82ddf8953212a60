import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";

/** TLS towards a store. The files are PEM and are read again for each new connection, so that renewed ones are taken up. */
export interface ClientTlsOptions {
  /** The client's certificate chain; needs `keyFile`. Default: no client certificate. */
  readonly certFile?: string;
  /** The client's private key; needs `certFile`. */
  readonly keyFile?: string;
  /** The only authorities that are trusted. Default: the system's. */
  readonly caFile?: string;
  /** Verify the chain but not the name in the server's certificate. Default: false. */
  readonly skipHostnameVerification?: boolean;
}

function read(file: string, what: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new TypeError(
      `TLS: the ${what} ${file} cannot be read (${(cause as NodeJS.ErrnoException).code})`,
      {
        cause,
      },
    );
  }
}

/**
 * What `tls.connect` needs.
 * @throws {TypeError} when a file is unreadable, or one of certificate and key is given without the other
 */
export function tlsConnectionOptions(options: ClientTlsOptions): ConnectionOptions {
  const { certFile, keyFile, caFile } = options;
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new TypeError("TLS: a client certificate and its key are given together or not at all");
  return {
    minVersion: "TLSv1.2",
    ...(certFile !== undefined && { cert: read(certFile, "client certificate") }),
    ...(keyFile !== undefined && { key: read(keyFile, "client key") }),
    ...(caFile !== undefined && { ca: read(caFile, "CA certificate") }),
    ...(options.skipHostnameVerification === true && { checkServerIdentity: () => undefined }),
  };
}
