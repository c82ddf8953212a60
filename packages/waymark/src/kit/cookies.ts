import type { Controller } from "../controller/controller.ts";
import type { CookieOptions } from "../http/set-cookie.ts";
import { encryption, type Sealing, type Secrets, signing } from "./sealing.ts";

/** The secret of a cookie, and its attributes. */
export interface SealedCookieOptions extends Omit<CookieOptions, "expires"> {
  /** A random text of at least 32 characters. With several, the first one seals, and all of them open. */
  readonly secret: Secrets;
}

/** A cookie with a value of JSON that a client cannot change. */
export interface SealedCookie<T> {
  /** Undefined if there is no such cookie, if it has expired, or if somebody has changed it. */
  read(controller: Controller): Promise<T | undefined>;
  /** Sets the cookie. Rejects with a `TypeError` if the sealed value is longer than 4,096 characters. */
  write(controller: Controller, value: T): Promise<void>;
  /** Lets the browser forget the cookie. */
  delete(controller: Controller): void;
}

/**
 * A cookie that a client can read, but not change.
 * @example
 * ```ts
 * import { Controller } from "@tollway/waymark";
 * import { signedCookie } from "@tollway/waymark/kit";
 *
 * const theme = signedCookie<string>("theme", { secret: process.env.SECRET!, maxAge: 86_400 });
 *
 * export class Theme extends Controller {
 *   async GET() { return (await theme.read(this)) ?? "light"; }
 *   async PUT(name: string) { await theme.write(this, name); }
 * }
 * ```
 */
export function signedCookie<T>(name: string, options: SealedCookieOptions): SealedCookie<T> {
  return sealedCookie(name, options, signing(options.secret));
}

/**
 * A cookie that a client can neither read nor change.
 * @example
 * ```ts
 * import { Controller } from "@tollway/waymark";
 * import { encryptedCookie } from "@tollway/waymark/kit";
 *
 * const cart = encryptedCookie<number[]>("cart", { secret: process.env.SECRET! });
 *
 * export class Cart extends Controller {
 *   async POST({ book }: { book: number }) { await cart.write(this, [...((await cart.read(this)) ?? []), book]); }
 * }
 * ```
 */
export function encryptedCookie<T>(name: string, options: SealedCookieOptions): SealedCookie<T> {
  return sealedCookie(name, options, encryption(options.secret));
}

function sealedCookie<T>(name: string, options: SealedCookieOptions, sealing: Sealing): SealedCookie<T> {
  const { secret: _, ...attributes } = options;
  const box = expiringBox<T>(name, sealing);
  return {
    async read(controller) {
      const sent = controller.cookies[name];
      return sent === undefined ? undefined : box.open(sent);
    },
    async write(controller, value) {
      controller.setCookie(name, await box.seal(value, options.maxAge), attributes);
    },
    delete(controller) {
      controller.deleteCookie(name, attributes);
    },
  };
}

/** The name is part of the seal, so that a value cannot move to another cookie. So is its end: browsers do not keep to it. */
export function expiringBox<T>(name: string, sealing: Sealing) {
  return {
    seal(value: T, maxAge: number | undefined): Promise<string> {
      const expires = maxAge === undefined ? null : Math.ceil(Date.now() / 1000) + maxAge;
      return sealing.seal(JSON.stringify([expires, value]), name);
    },
    async open(sealed: string): Promise<T | undefined> {
      const text = await sealing.open(sealed, name);
      if (text === undefined) return undefined;
      const [expires, value] = JSON.parse(text) as [number | null, T];
      return expires !== null && expires * 1000 <= Date.now() ? undefined : value;
    },
  };
}
