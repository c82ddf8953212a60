/**
 * `@tollway/waymark/kit`: what most APIs need around their controllers. Every part is one file that uses web standards
 * only. Parts that need a package or Node have entries of their own: `kit/jwt`, `kit/telemetry`, `kit/files`.
 */
export type { AccessLog, AccessLogOptions } from "./kit/access-log.ts";
export { accessLog } from "./kit/access-log.ts";
export type { AccessLogEntry } from "./kit/access-log-lines.ts";
export { attachment } from "./kit/attachment.ts";
export type { BasicOptions } from "./kit/basic.ts";
export { basic } from "./kit/basic.ts";
export type { BearerOptions } from "./kit/bearer.ts";
export { bearer } from "./kit/bearer.ts";
export type { CacheDirectives } from "./kit/cache-control.ts";
export { cacheControl, defaultCacheControl } from "./kit/cache-control.ts";
export type { CompressionOptions } from "./kit/compression.ts";
export { compression } from "./kit/compression.ts";
export type { MatchOptions } from "./kit/conditional.ts";
export { checkMatch, etag, tagOf } from "./kit/conditional.ts";
export type { SealedCookie, SealedCookieOptions } from "./kit/cookies.ts";
export { encryptedCookie, signedCookie } from "./kit/cookies.ts";
export type { Authenticator, OptionalAuthenticator, Verdict } from "./kit/credentials.ts";
export { sameSecret } from "./kit/credentials.ts";
export type { Encoding } from "./kit/encoders.ts";
export { heartbeat, lastEventId } from "./kit/events.ts";
export type { RequestIdOptions, RequestIds } from "./kit/request-id.ts";
export { requestId } from "./kit/request-id.ts";
export type { Secrets, SecretTexts } from "./kit/sealing.ts";
export type { SecureHeadersOptions } from "./kit/secure-headers.ts";
export { secureHeaders } from "./kit/secure-headers.ts";
export type { Session, SessionOptions, SessionStore, Sessions } from "./kit/sessions.ts";
export { memoryStore, sessions } from "./kit/sessions.ts";
export type { TimeoutOptions } from "./kit/timeout.ts";
export { timeout, within } from "./kit/timeout.ts";
