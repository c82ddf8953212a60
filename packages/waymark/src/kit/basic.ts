import type { Controller } from "../controller/controller.ts";
import {
  type Authenticator,
  headerAuthenticator,
  Refusal,
  realmOf,
  userOf,
  type Verdict,
} from "./credentials.ts";

/** Options of {@link basic}. */
export interface BasicOptions<User> {
  /** The user with this name and password. Undefined, null or false: they are wrong. */
  readonly verify: (
    name: string,
    password: string,
    controller: Controller,
  ) => Verdict<User> | Promise<Verdict<User>>;
  /** The name of the protected area, which browsers show. Default `api`. */
  readonly realm?: string;
}

/**
 * Name and password (RFC 7617), in UTF-8. Use it over HTTPS only.
 * @example
 * ```ts
 * import { Controller } from "@tollway/waymark";
 * import { basic, sameSecret } from "@tollway/waymark/kit";
 *
 * const users = basic({
 *   verify: async (name, password) => (await sameSecret(password, process.env.PASSWORD!)) && { name },
 * });
 *
 * export class Account extends Controller {
 *   async GET() { return (await users(this)).name; }
 * }
 * ```
 */
export function basic<User>({
  verify,
  realm = "api",
}: BasicOptions<User>): Authenticator<Exclude<User, undefined | null | false>> {
  return headerAuthenticator({
    name: "basic",
    challenge: `Basic${realmOf(realm)}, charset="UTF-8"`,
    securityScheme: { type: "http", scheme: "basic" },
    async read(credentials, controller) {
      const pair = pairOf(credentials);
      const user = pair && userOf(await verify(pair.name, pair.password, controller));
      return user ?? new Refusal("name or password is wrong");
    },
  });
}

/** Undefined for anything but Base64 of UTF-8 text with a colon and without control characters. */
function pairOf(credentials: string): { name: string; password: string } | undefined {
  try {
    const bytes = Uint8Array.from(atob(credentials), (each) => each.charCodeAt(0));
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const colon = text.indexOf(":");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 7617 section 2 forbids them
    if (colon === -1 || /[\0-\x1f\x7f]/.test(text)) return undefined;
    return { name: text.slice(0, colon), password: text.slice(colon + 1) };
  } catch {
    return undefined;
  }
}
