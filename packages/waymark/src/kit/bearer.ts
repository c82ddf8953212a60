import type { Controller } from "../controller/controller.ts";
import {
  type Authenticator,
  headerAuthenticator,
  Refusal,
  realmOf,
  userOf,
  type Verdict,
} from "./credentials.ts";

/** Options of {@link bearer}. */
export interface BearerOptions<User> {
  /** The user of a token. Undefined, null or false: the token is not valid. */
  readonly verify: (token: string, controller: Controller) => Verdict<User> | Promise<Verdict<User>>;
  /** The name of the protected area. Default: none. */
  readonly realm?: string;
}

/** The syntax of RFC 6750 section 2.1. */
const TOKEN = /^[\w.~+/-]+=*$/;

/**
 * Bearer tokens (RFC 6750): `authorization: Bearer TOKEN`.
 * @example
 * ```ts
 * import { Controller } from "@tollway/waymark";
 * import { bearer, sameSecret } from "@tollway/waymark/kit";
 *
 * const users = bearer({
 *   verify: async (token) => (await sameSecret(token, process.env.TOKEN!)) && { name: "ann" },
 * });
 *
 * export class Account extends Controller {
 *   async GET() { return (await users(this)).name; }
 * }
 * ```
 */
export function bearer<User>({
  verify,
  realm,
}: BearerOptions<User>): Authenticator<Exclude<User, undefined | null | false>> {
  return headerAuthenticator({
    name: "bearer",
    challenge: `Bearer${realmOf(realm)}`,
    securityScheme: { type: "http", scheme: "bearer" },
    async read(token, controller) {
      const user = TOKEN.test(token) ? userOf(await verify(token, controller)) : undefined;
      return user ?? new Refusal("the token is not valid", 'error="invalid_token"');
    },
  });
}
