import type { SecureContextOptions } from "node:tls";
import type { SecureContext, TlsOptions } from "../types.ts";

/**
 * The cipher suites of TLS 1.3, and those of TLS 1.2 with forward secrecy and authenticated encryption. RFC 9113, appendix A,
 * forbids CBC and static RSA in HTTP/2.
 */
export const TLS_CIPHER_SUITES = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":");

/**
 * Returns all options of a listener's TLS context. A replaced context needs all of them: Node uses its defaults for missing
 * options, including the minimum version.
 */
export function contextOptions(tls: TlsOptions, replaced: SecureContext | undefined): SecureContextOptions {
  const { cert, key, ca } = { ...tls, ...replaced };
  return {
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(ca !== undefined && { ca }),
    ciphers: TLS_CIPHER_SUITES,
    minVersion: tls.minVersion ?? "TLSv1.2",
    // RFC 9113 section 9.2.1 forbids renegotiation in HTTP/2.
    secureOptions: process.getBuiltinModule("node:crypto").constants.SSL_OP_NO_RENEGOTIATION,
  };
}
