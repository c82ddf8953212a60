import type { Controller } from "../controller/controller.ts";
import type { CookieOptions } from "../http/set-cookie.ts";
import { encryption, type Sealing, type Secrets, signing } from "./sealing.ts";

export interface SealedCookieOptions extends Omit<CookieOptions, "expires"> {
  /** A random text of at least 32 characters. With several, the first one seals, and all of them open. */
  readonly secret: Secrets;
}

/** A cookie with a value of JSON that a client cannot change. */
export interface SealedCookie<T> {
  /** Undefined if there is no such cookie, if it has expired, or if somebody has changed it. */
  read(controller: Controller): Promise<T | undefined>;
  write(controller: Controller, value: T): Promise<void>;
  delete(controller: Controller): void;
}

/** A cookie that a client can read, but not change. */
export function signedCookie<T>(name: string, options: SealedCookieOptions): SealedCookie<T> {
  return sealedCookie(name, options, signing(options.secret));
}

/** A cookie that a client can neither read nor change. */
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
