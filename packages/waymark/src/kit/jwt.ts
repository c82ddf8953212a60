/** `@tollway/waymark/kit/jwt`: JSON Web Tokens, verified by the package `jose`. */
import {
  createRemoteJWKSet,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from "jose";
import type { Controller } from "../controller/controller.ts";
import { HttpError } from "../http/http-error.ts";
import {
  type Authenticator,
  headerAuthenticator,
  Refusal,
  realmOf,
  userOf,
  type Verdict,
} from "./credentials.ts";

/** Options of {@link jwt}. Either `key` or `jwks` is required. */
export interface JwtOptions<User> {
  /** The accepted signature algorithms, such as `["ES256"]`. `none` is never accepted. */
  readonly algorithms: readonly string[];
  /** A shared secret of at least 32 bytes for HS256, HS384 and HS512, or a public key of `jose`. */
  readonly key?: string | Uint8Array | CryptoKey | JWTVerifyGetKey;
  /** The address of the issuer's keys. Replaces `key`. */
  readonly jwks?: string | URL;
  /** Accepted `iss`. */
  readonly issuer?: string | readonly string[];
  /** Accepted `aud`: this service. */
  readonly audience?: string | readonly string[];
  /** Claims that every token must have. Default `["exp"]`. */
  readonly requiredClaims?: readonly string[];
  /** Difference between the clocks, in seconds. Default 5. */
  readonly clockTolerance?: number;
  /** Makes the user from verified claims. Default: the claims. Undefined, null or false: the token is not valid. */
  readonly user?: (claims: JWTPayload, controller: Controller) => Verdict<User> | Promise<Verdict<User>>;
  /** The name of the protected area. Default: none. */
  readonly realm?: string;
}

/**
 * Bearer tokens that are signed JSON Web Tokens (RFC 7519).
 * @example
 * ```ts
 * import { Controller } from "@tollway/waymark";
 * import { jwt } from "@tollway/waymark/kit/jwt";
 *
 * const users = jwt({
 *   algorithms: ["ES256"],
 *   jwks: "https://login.example/.well-known/jwks.json",
 *   issuer: "https://login.example",
 *   audience: "books",
 * });
 *
 * export class Account extends Controller {
 *   async GET() { return (await users(this)).sub; }
 * }
 * ```
 */
export function jwt<User = JWTPayload>(
  options: JwtOptions<User>,
): Authenticator<Exclude<User, undefined | null | false>> {
  const { algorithms, issuer, audience, requiredClaims = ["exp"], clockTolerance = 5, user } = options;
  const key = keyOf(options);
  const rules: JWTVerifyOptions = {
    algorithms: [...algorithms],
    requiredClaims: [...requiredClaims],
    clockTolerance,
    ...(issuer !== undefined && { issuer: typeof issuer === "string" ? issuer : [...issuer] }),
    ...(audience !== undefined && { audience: typeof audience === "string" ? audience : [...audience] }),
  };
  return headerAuthenticator({
    name: "bearer",
    challenge: `Bearer${realmOf(options.realm)}`,
    securityScheme: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
    async read(token, controller) {
      let claims: JWTPayload;
      try {
        claims = (
          await (typeof key === "function" ? jwtVerify(token, key, rules) : jwtVerify(token, key, rules))
        ).payload;
      } catch (error) {
        return refusal(error);
      }
      const found = user === undefined ? (claims as Verdict<User>) : await user(claims, controller);
      return userOf(found) ?? new Refusal("the token is not valid", 'error="invalid_token"');
    },
  });
}

/** A public key as the secret of HS256 would let anybody sign, so secrets and algorithms must belong together. */
function keyOf({
  algorithms,
  key,
  jwks,
}: Pick<JwtOptions<unknown>, "algorithms" | "key" | "jwks">): Uint8Array | CryptoKey | JWTVerifyGetKey {
  if (
    !Array.isArray(algorithms) ||
    algorithms.length === 0 ||
    algorithms.some((each) => /^none$/i.test(each))
  )
    throw new TypeError(
      'jwt: algorithms must list the accepted algorithms, such as ["ES256"], without "none"',
    );
  if ((key === undefined) === (jwks === undefined)) throw new TypeError("jwt: give either key or jwks");
  const isShared = typeof key === "string" || key instanceof Uint8Array;
  for (const algorithm of algorithms)
    if (algorithm.startsWith("HS") !== isShared)
      throw new TypeError(
        isShared
          ? `jwt: a shared secret cannot verify ${algorithm}: give the issuer's public key`
          : `jwt: ${algorithm} needs a shared secret, not a public key`,
      );
  if (jwks !== undefined) return createRemoteJWKSet(new URL(jwks));
  if (!isShared) return key as CryptoKey | JWTVerifyGetKey;
  const bytes = typeof key === "string" ? new TextEncoder().encode(key) : (key as Uint8Array);
  if (bytes.length < 32)
    throw new TypeError(`jwt: the secret must have at least 32 bytes, not ${bytes.length}`);
  return bytes;
}

/** The errors of `jose` that a token causes. */
const OF_TOKEN = /^ERR_(JW[ST]_|JOSE_(ALG_NOT_ALLOWED|NOT_SUPPORTED)$|JWKS_(NO|MULTIPLE)_MATCHING_KEYS?$)/;

/** Keys that cannot be read are a fault of the server, and a stranger must not see which. */
function refusal(error: unknown): Refusal {
  if (error instanceof errors.JWTExpired)
    return new Refusal("the token has expired", 'error="invalid_token"');
  if (error instanceof errors.JOSEError && OF_TOKEN.test(error.code))
    return new Refusal("the token is not valid", 'error="invalid_token"');
  throw new HttpError(503, "the keys of the token's issuer cannot be used", { cause: error });
}
