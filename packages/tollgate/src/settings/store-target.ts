import { Refusal } from "./kinds/kinds.ts";

/** The address of one server of a store. */
export type StoreAddress =
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

/** The servers of one deployment. */
export type StoreTarget =
  | { readonly type: "single"; readonly address: StoreAddress; readonly database: number }
  | { readonly type: "sentinel"; readonly master: string; readonly sentinels: readonly StoreAddress[] }
  | { readonly type: "cluster"; readonly nodes: readonly StoreAddress[] };

/** A store's servers with the TLS flag and credentials from the address. */
interface ParsedTarget {
  readonly target: StoreTarget;
  /** True for `rediss://`. */
  readonly tls: boolean;
  /** The user of `redis://user:password@`. */
  readonly user: string | undefined;
  readonly password: string | undefined;
}

interface ParsedAddress {
  readonly address: StoreAddress;
  readonly database: number;
  readonly tls: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

const example = {
  single: "must be host:port, the path of a Unix socket, or a URL such as redis://host:6379/0",
  sentinel:
    "must be the master's name and at least one sentinel, separated by commas: mymaster,host1:26379,host2:26379",
  cluster: "must be the nodes, separated by commas: host1:6379,host2:6379",
};

/**
 * Parses `KVSTORE_URL`.
 * @throws {Refusal}
 */
export function parseStoreTarget(
  url: string,
  type: StoreTarget["type"],
  socketType: "tcp" | "unix" | undefined,
): ParsedTarget {
  const items = url.split(",").map((item) => item.trim());
  if (type === "single") {
    if (items.length > 1)
      throw new Refusal(`${example.single}; for several servers, set the type to sentinel or cluster`);
    const { address, database, ...rest } = parseAddress(url.trim(), socketType, example.single);
    return { target: { type, address, database }, ...rest };
  }
  if (type === "sentinel") {
    const [master = "", ...rest] = items;
    if (master === "" || rest.length === 0) throw new Refusal(example.sentinel);
    const sentinels = rest.map((item) => parseAddress(item, socketType, example.sentinel));
    return {
      target: { type, master, sentinels: sentinels.map((one) => one.address) },
      ...shared(sentinels),
    };
  }
  const nodes = items.map((item) => parseAddress(item, socketType, example.cluster));
  return { target: { type, nodes: nodes.map((node) => node.address) }, ...shared(nodes) };
}

function shared(parsed: readonly ParsedAddress[]): Omit<ParsedTarget, "target"> {
  if (parsed.some((one) => one.database !== 0))
    throw new Refusal("must not name a database in a list of servers");
  const withPassword = parsed.find((one) => one.password !== undefined);
  return {
    tls: parsed.some((one) => one.tls),
    user: withPassword?.user,
    password: withPassword?.password,
  };
}

function parseAddress(text: string, socketType: "tcp" | "unix" | undefined, expected: string): ParsedAddress {
  if (/^rediss?:\/\//i.test(text)) return parseUrl(text, expected);
  const plain = { database: 0, tls: false, user: undefined, password: undefined };
  const path = text.replace(/^unix:\/\//, "");
  if (socketType === "unix" || (socketType === undefined && (path !== text || /^[./]/.test(text)))) {
    if (path === "") throw new Refusal(expected);
    return { address: { kind: "unix", path }, ...plain };
  }
  const address = parseHostPort(text);
  if (address === undefined) throw new Refusal(expected);
  return { address: { kind: "tcp", ...address }, ...plain };
}

function parseUrl(text: string, expected: string): ParsedAddress {
  let url: URL;
  let user: string;
  let password: string;
  try {
    // The URL standard parses the host of known schemes only.
    url = new URL(text.replace(/^redis(s?):/i, "http$1:"));
    user = decodeURIComponent(url.username);
    password = decodeURIComponent(url.password);
  } catch {
    throw new Refusal(expected);
  }
  const tls = url.protocol === "https:";
  // URL drops the default port of its scheme, so the port is read from the text.
  const port = url.port === "" ? Number(/:(80|443)(?:\/|$)/.exec(text)?.[1] ?? 6379) : Number(url.port);
  const database = /^\/?(\d*)$/.exec(url.pathname)?.[1];
  if (database === undefined) throw new Refusal(`${expected}; the path must be a database number`);
  return {
    address: { kind: "tcp", host: url.hostname.replace(/^\[(.*)\]$/, "$1"), port },
    database: Number(database),
    tls,
    // `redis://password@host` means the same as `redis://:password@host`.
    user: user === "" || password === "" ? undefined : user,
    password: password !== "" ? password : user !== "" ? user : undefined,
  };
}

/** Parses `host:port` or `[::1]:port`; undefined for other text. */
export function parseHostPort(text: string): { host: string; port: number } | undefined {
  const match = /^(?:\[([0-9a-fA-F:.%]+)\]|([^\s:/@[\]]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port === 0 || port > 65535) return undefined;
  return { host: match[1] ?? match[2] ?? "", port };
}
