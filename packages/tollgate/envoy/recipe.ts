import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";

const deploy = fileURLToPath(new URL("../../../deploy/", import.meta.url));

/** A file of `deploy/`. */
export function deployFile(path: string): string {
  return readFileSync(deploy + path, "utf8");
}

export interface RecipeOptions {
  /** `host:port` of each replica of the rate limit service. Default: the recipe's address is another, in `files`. */
  readonly replicas?: readonly string[];
  /** Paths of files and sockets by their paths in the recipe. */
  readonly files?: Readonly<Record<string, string>>;
  /** Overrides failure_mode_deny. */
  readonly failureModeDeny?: boolean;
  readonly healthInterval?: string;
}

/**
 * The configuration in a recipe, with this machine's addresses in the place of those of Tollgate and the upstream, free
 * ports, and time limits that suit a busy machine. Everything else is as in the file.
 */
export function recipeConfig(path: string, options: RecipeOptions): (upstream: string) => object {
  return (upstream) => {
    const config = adapt(load(deployFile(path)), upstream, options) as object;
    return { admin: { address: socketAddress("127.0.0.1:0") }, ...config };
  };
}

function adapt(value: unknown, upstream: string, options: RecipeOptions): unknown {
  if (Array.isArray(value)) return value.flatMap((item) => adaptItem(item, upstream, options));
  if (typeof value === "string") return options.files?.[value] ?? value;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => {
    if (key === "timeout" && member === "0.25s") return [key, "60s"];
    if (key.endsWith("interval") && options.healthInterval !== undefined)
      return [key, options.healthInterval];
    if (key === "failure_mode_deny" && options.failureModeDeny !== undefined)
      return [key, options.failureModeDeny];
    if (key === "socket_address") return [key, addressOf(member as SocketAddress, upstream)];
    return [key, adapt(member, upstream, options)];
  });
  return Object.fromEntries(entries);
}

interface SocketAddress {
  readonly address: string;
  readonly port_value: number;
}

/** The upstreams of the recipes. */
const UPSTREAMS: ReadonlySet<string> = new Set(["upstream:80", "127.0.0.1:8000"]);
/** The endpoints of Tollgate, as the recipes begin them. */
const REPLICA =
  /^\{"endpoint":\{"address":\{"socket_address":\{"address":"(?:tollgate|127\.0\.0\.1)","port_value":8081\}/;

function addressOf({ address, port_value: port }: SocketAddress, upstream: string) {
  // A listener: any port, on this machine only.
  return socketAddress(UPSTREAMS.has(`${address}:${port}`) ? upstream : "127.0.0.1:0").socket_address;
}

/** Replaces the recipe's endpoint by the replicas. */
function adaptItem(item: unknown, upstream: string, options: RecipeOptions): unknown {
  if (!REPLICA.test(JSON.stringify(item)) || options.replicas === undefined)
    return [adapt(item, upstream, options)];
  return options.replicas.map((replica) => ({ endpoint: { address: socketAddress(replica) } }));
}

function socketAddress(address: string) {
  const [host, port] = address.split(":");
  return { socket_address: { address: host, port_value: Number(port) } };
}
