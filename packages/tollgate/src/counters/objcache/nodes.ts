import type { SrvRecord } from "node:dns";
import { Resolver } from "node:dns/promises";
import { crc32 } from "node:zlib";
import { reconnectDelay } from "../transport/connect.ts";
import { formatEndpoint } from "../transport/endpoint.ts";
import { NodeConnection, type NodeConnectionDependencies } from "./node-connection.ts";
import type { NodeAddress, ObjcacheOptions } from "./objcache-options.ts";

/**
 * The nodes. A key belongs to node `crc32(key) % n` of the list. All processes with the same list agree, and so does the
 * Go service: its counters continue.
 */
export class Nodes {
  readonly #deps: NodeConnectionDependencies;
  readonly #connectionsPerNode: number;
  readonly #log: (level: "info" | "warn", message: string) => void;
  #names: readonly string[] = [];
  #nodes: readonly (readonly NodeConnection[])[] = [];
  #known = new Map<string, readonly NodeConnection[]>();
  /** Nodes that left the list and still have increments to send. */
  readonly #leaving = new Set<readonly NodeConnection[]>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #failures = 0;
  readonly #resolver: Resolver | undefined;
  /** Resolves when the list is known, or the first lookup has failed. */
  readonly first: Promise<void>;

  /** @throws {TypeError} for both or neither of `nodes` and `srv` */
  constructor(options: ObjcacheOptions, deps: NodeConnectionDependencies) {
    this.#deps = deps;
    this.#log = options.log ?? (() => {});
    const idle = options.maxIdleConnections ?? 2;
    this.#connectionsPerNode = idle < 1 ? 2 : Math.ceil(idle);
    const { nodes = [], srv = "" } = options;
    if (nodes.length > 0 === (srv !== ""))
      throw new TypeError("the object cache needs either nodes or the name of SRV records");
    if (srv === "") {
      this.#take(nodes);
      this.first = Promise.resolve();
      return;
    }
    if (!/^_[^.\s]+\._[^.\s]+\.[^\s]+$/.test(srv))
      throw new TypeError(`"${srv}" is not the name of SRV records: _service._proto.name`);
    this.#resolver = new Resolver({ timeout: 1000, tries: 2 });
    if (options.dnsServers !== undefined) this.#resolver.setServers(options.dnsServers);
    this.first = this.#lookUp(srv, options.srvRefresh ?? 0);
  }

  get size(): number {
    return this.#nodes.length;
  }

  /** The connection of a key. There must be a node. */
  connectionOf(key: string): NodeConnection {
    const hash = crc32(key);
    const connections = this.#nodes[hash % this.#nodes.length]!;
    return connections[Math.floor(hash / this.#nodes.length) % connections.length]!;
  }

  *connections(): Iterable<NodeConnection> {
    for (const connections of [...this.#known.values(), ...this.#leaving]) yield* connections;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#resolver?.cancel();
    for (const connection of this.connections()) connection.close();
  }

  async #lookUp(name: string, refresh: number): Promise<void> {
    let again = refresh;
    try {
      const records = await this.#resolver!.resolveSrv(name);
      if (this.#closed) return;
      this.#failures = 0;
      this.#take(nodesOf(records));
    } catch (error) {
      if (this.#closed) return;
      this.#log(
        "warn",
        `could not look up the nodes of ${name}, the list is unchanged: ${(error as Error).message}`,
      );
      // Without nodes, retry soon.
      if (this.#nodes.length === 0) again = reconnectDelay(++this.#failures + 2);
    }
    if (again <= 0) return;
    this.#timer = setTimeout(() => void this.#lookUp(name, refresh), again);
    this.#timer.unref();
  }

  #take(nodes: readonly NodeAddress[]): void {
    const names = nodes.map(formatEndpoint);
    if (names.join() === this.#names.join()) return;
    if (this.#names.length > 0) this.#log("info", `the nodes are now ${names.join(", ")}`);
    this.#names = names;
    const known = new Map<string, readonly NodeConnection[]>();
    names.forEach((name, i) => {
      known.set(name, this.#known.get(name) ?? known.get(name) ?? this.#make(nodes[i]!));
    });
    for (const [name, connections] of this.#known) if (!known.has(name)) this.#retire(connections);
    this.#known = known;
    this.#nodes = names.map((name) => known.get(name)!);
    this.#deps.gauges.nodes = names.length;
  }

  #make(endpoint: NodeAddress): readonly NodeConnection[] {
    return Array.from({ length: this.#connectionsPerNode }, () => new NodeConnection(endpoint, this.#deps));
  }

  /** Closes a removed node after it has answered its waiting calls and received their increments. */
  #retire(connections: readonly NodeConnection[]): void {
    this.#leaving.add(connections);
    const latest = performance.now() + this.#deps.timeout * 4;
    const check = () => {
      if (performance.now() < latest && connections.some((connection) => !connection.idle)) {
        setTimeout(check, 20).unref();
        return;
      }
      this.#leaving.delete(connections);
      for (const connection of connections) connection.close();
    };
    check();
  }
}

/** @throws {Error} without records, or for a record without a usable target (RFC 2782: `.` means no service) */
function nodesOf(records: readonly SrvRecord[]): readonly NodeAddress[] {
  if (records.length === 0) throw new Error("there are no SRV records");
  return records
    .map(({ name, port }) => {
      const host = name.replace(/\.$/, "");
      if (host === "" || port === 0)
        throw new Error(`an SRV record has the target "${name}" and the port ${port}`);
      return { host, port };
    })
    .sort((a, b) => (formatEndpoint(a) < formatEndpoint(b) ? -1 : 1));
}
