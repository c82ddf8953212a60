/**
 * `@tollway/waymark/kit`: what most APIs need around their controllers. Every part is one file that uses web standards
 * only. Parts that need a package or Node have entries of their own: `kit/jwt`, `kit/telemetry`, `kit/files`.
 */
export type { AccessLogEntry, AccessLogOptions } from "./kit/access-log.ts";
export { accessLog } from "./kit/access-log.ts";
export type { RequestIdOptions, RequestIds } from "./kit/request-id.ts";
export { requestId } from "./kit/request-id.ts";
export type { SecureHeadersOptions } from "./kit/secure-headers.ts";
export { secureHeaders } from "./kit/secure-headers.ts";
