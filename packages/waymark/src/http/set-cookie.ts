import { stringifySetCookie } from "cookie";

/** The attributes of a cookie. */
export interface CookieOptions {
  /** Seconds until the cookie expires. Default: when the browser ends. */
  readonly maxAge?: number;
  /** The time at which the cookie expires. `maxAge` wins over it. */
  readonly expires?: Date;
  /** Default: only the host that sets the cookie. */
  readonly domain?: string;
  /** Default `/`. */
  readonly path?: string;
  /** Hides the cookie from scripts. Default true. */
  readonly httpOnly?: boolean;
  /** Sends the cookie over HTTPS only. Default: true for a request over HTTPS. */
  readonly secure?: boolean;
  /** Whether requests from other sites carry the cookie. Default `lax`. */
  readonly sameSite?: "strict" | "lax" | "none";
  /** Keeps the cookie apart for each site that embeds this one. Default false. */
  readonly partitioned?: boolean;
}

/** Browsers ignore a longer cookie (RFC 6265 section 6.1). */
const LONGEST = 4096;

/** The value of a `set-cookie` header. The value of the cookie is percent-encoded where needed. */
export function setCookieHeader(
  name: string,
  value: string,
  options: CookieOptions,
  secure: boolean,
): string {
  const isSecure =
    options.secure ?? (secure || options.sameSite === "none" || /^__(host|secure)-/i.test(name));
  const line = stringifySetCookie({
    path: "/",
    httpOnly: true,
    sameSite: "lax",
    ...options,
    secure: isSecure,
    name,
    value,
  });
  if (line.length > LONGEST)
    throw new RangeError(
      `the cookie ${name} has ${line.length} characters, and browsers ignore more than ${LONGEST}`,
    );
  return line;
}

/** The header that deletes a cookie. Path and domain must be those of the cookie. */
export function deleteCookieHeader(name: string, options: CookieOptions, secure: boolean): string {
  return setCookieHeader(name, "", { ...options, maxAge: 0, expires: new Date(0) }, secure);
}
