import { constants } from "node:crypto";
import type { SecureContextOptions } from "node:tls";
import type { SecureContext, TlsOptions } from "../types.ts";

/**
 * All that a listener's TLS context is made of. A replaced context gets all of it again: what is left out then falls
 * back to the system's defaults, the lowest version included.
 */
export function contextOptions(tls: TlsOptions, replaced: SecureContext | undefined): SecureContextOptions {
  const { cert, key, ca } = { ...tls, ...replaced };
  return {
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(ca !== undefined && { ca }),
    minVersion: tls.minVersion ?? "TLSv1.2",
    // RFC 9113 section 9.2.1: no renegotiation once HTTP/2 is spoken.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
}
