import { type Endpoint, parseHostPort } from "../transport/endpoint.ts";
import type { ClientTlsOptions } from "../transport/tls.ts";
import type { KvstoreOptions } from "./options.ts";

export interface Credentials {
  /** Undefined: the server's default user. */
  readonly user: string | undefined;
  readonly password: string;
}

/** Where to connect and as whom, as far as one URL says. */
export type Address =
  | {
      readonly type: "single";
      readonly endpoint: Endpoint;
      readonly credentials: Credentials | undefined;
      readonly database: number;
      readonly tls: ClientTlsOptions | undefined;
    }
  | {
      readonly type: "sentinel";
      readonly master: string;
      readonly sentinels: readonly Endpoint[];
      readonly credentials: Credentials | undefined;
      readonly sentinelCredentials: Credentials | undefined;
      readonly tls: ClientTlsOptions | undefined;
    }
  | {
      readonly type: "cluster";
      readonly nodes: readonly Endpoint[];
      readonly credentials: Credentials | undefined;
      readonly tls: ClientTlsOptions | undefined;
    };

/** Splits at the first `:`; without one all of it is the password; an empty user is the default user. */
export function parseAuth(auth: string | undefined): Credentials | undefined {
  if (auth === undefined || auth === "") return undefined;
  const colon = auth.indexOf(":");
  if (colon < 0) return { user: undefined, password: auth };
  return { user: auth.slice(0, colon) || undefined, password: auth.slice(colon + 1) };
}

/** @throws {TypeError} that says what is wrong with the URL; credentials in it are never shown */
export function parseAddress(options: KvstoreOptions): Address {
  const { url, tls } = options;
  const credentials = parseAuth(options.auth);
  const type = options.type ?? "single";
  if (type === "single") return parseSingle(options, credentials);
  const items = url.split(",").map((item) => item.trim());
  if (items.some((item) => item === "")) throw new TypeError(`the store's URL has an empty item: "${url}"`);
  if (type === "cluster")
    return {
      type,
      nodes: items.map((item) => parseHostPort(item, "the store's URL")),
      credentials,
      tls,
    };
  if (items.length < 2)
    throw new TypeError(
      `the store's URL "${url}" names no sentinel: it must be <master name>,<sentinel host:port>,...`,
    );
  return {
    type,
    master: items[0]!,
    sentinels: items.slice(1).map((item) => parseHostPort(item, "the store's URL")),
    credentials,
    sentinelCredentials: parseAuth(options.sentinelAuth),
    tls,
  };
}

function parseSingle(options: KvstoreOptions, credentials: Credentials | undefined): Address {
  const { url, tls } = options;
  const plain = { type: "single", credentials, database: 0, tls } as const;
  if (/^rediss?:\/\//i.test(url)) return parseRedisUrl(options, credentials);
  if (/^unix:\/\//i.test(url)) return { ...plain, endpoint: { path: url.slice("unix://".length) } };
  if (options.socketType === "unix" || (options.socketType === undefined && url.startsWith("/")))
    return { ...plain, endpoint: { path: url } };
  return { ...plain, endpoint: parseHostPort(url, "the store's URL") };
}

/** `redis://[user[:password]@]host[:port][/database]`; `rediss` is the same over TLS. Parts are percent-decoded. */
function parseRedisUrl(options: KvstoreOptions, credentials: Credentials | undefined): Address {
  let parsed: URL;
  let user: string;
  let password: string;
  try {
    parsed = new URL(options.url);
    user = decodeURIComponent(parsed.username);
    password = decodeURIComponent(parsed.password);
  } catch (cause) {
    // The cause's message would show the URL, and with it a password.
    throw new TypeError("the store's URL is no URL: redis://[user:password@]host[:port][/database]", {
      cause: (cause as NodeJS.ErrnoException).code,
    });
  }
  const database = parsed.pathname === "" || parsed.pathname === "/" ? "0" : parsed.pathname.slice(1);
  if (parsed.hostname === "" || !/^\d{1,9}$/.test(database))
    throw new TypeError("the store's URL is not redis://[user:password@]host[:port][/database number]");
  const inUrl = password === "" ? undefined : { user: user || undefined, password };
  return {
    type: "single",
    endpoint: { host: parsed.hostname.replace(/^\[|\]$/g, ""), port: Number(parsed.port || 6379) },
    credentials: credentials ?? inUrl,
    database: Number(database),
    tls: options.tls ?? (/^rediss:/i.test(options.url) ? {} : undefined),
  };
}

/** What a new connection says first. */
export function greeting(
  credentials: Credentials | undefined,
  ...others: readonly (readonly string[])[]
): readonly (readonly string[])[] {
  if (credentials === undefined) return others;
  const { user, password } = credentials;
  return [user === undefined ? ["AUTH", password] : ["AUTH", user, password], ...others];
}
