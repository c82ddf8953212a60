import { StoreError } from "../store.ts";
import { type Endpoint, formatEndpoint } from "../transport/endpoint.ts";
import { type Address, greeting } from "./address.ts";
import { Connection } from "./connection.ts";
import { StoreNode } from "./node.ts";
import { ErrorReply } from "./resp/reader.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Topology } from "./topology.ts";

/** How often the sentinels are asked while all is well: a master that hangs or was cut off is left after this. */
const pollMs = 1000;
/** A sentinel that takes longer has no vote. */
const answerMs = 500;

type SentinelAddress = Address & { type: "sentinel" };

/** The master that the sentinels name; it is asked whether it is one before it is used. */
export function sentinelTopology(address: SentinelAddress, around: Surroundings): Topology {
  const watch = new SentinelWatch(address, around.options.timeout);
  const { tls, credentials } = address;
  const hello = greeting(credentials, ["PING"]);
  const { timeout } = around.options;

  async function connect(): Promise<Connection> {
    const endpoint = await watch.master();
    const connection = await Connection.open({
      endpoint,
      tls,
      greeting: hello,
      timeout,
    });
    try {
      const [role] = await connection.commands([["ROLE"]]);
      const name = Array.isArray(role) ? role[0] : undefined;
      if (name !== "master")
        throw new Error(`${formatEndpoint(endpoint)} is not the master any more: its role is ${name}`);
    } catch (error) {
      connection.destroy();
      throw error;
    }
    return connection;
  }

  const node: StoreNode = new StoreNode({
    ...around,
    connect,
    // The master was made a replica: nothing was counted, and the count waits for its successor.
    refused(_, error, count, ticket) {
      if (error.code !== "READONLY") return false;
      node.push(count, ticket, 0);
      return true;
    },
    lost: () => {},
  });
  watch.start((from, to) => {
    around.log("warn", `the master "${address.master}" moved from ${from} to ${to}`);
    node.pool.restart(new StoreError("STORE_UNAVAILABLE", `${from} is not the master any more`));
  });
  return {
    submit: (ticket) => node.submit(ticket),
    groups: () => undefined,
    nodes: () => [node],
    close() {
      watch.close();
      node.close();
    },
  };
}

/** Asks all sentinels at once and believes most of those that answer in time. */
class SentinelWatch {
  readonly #address: SentinelAddress;
  readonly #timeout: number;
  readonly #connections = new Map<Endpoint, Connection>();
  #known: string | undefined;
  #asking: Promise<Endpoint> | undefined;
  #poll: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(address: SentinelAddress, timeout: number) {
    this.#address = address;
    this.#timeout = Math.min(timeout, answerMs);
  }

  start(onMoved: (from: string, to: string) => void): void {
    const poll = () => {
      const known = this.#known;
      this.master()
        .then((endpoint) => {
          const now = formatEndpoint(endpoint);
          if (known !== undefined && now !== known) onMoved(known, now);
        })
        .catch(() => {})
        .finally(() => {
          if (this.#closed) return;
          this.#poll = setTimeout(poll, pollMs);
          this.#poll.unref();
        });
    };
    poll();
  }

  /** Many connections are made at once; the sentinels are asked once. */
  master(): Promise<Endpoint> {
    this.#asking ??= this.#askAll().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#poll);
    for (const connection of this.#connections.values()) connection.destroy();
  }

  #askAll(): Promise<Endpoint> {
    const { sentinels, master } = this.#address;
    const votes = new Map<string, { endpoint: Endpoint; count: number }>();
    const faults: string[] = [];
    return new Promise((resolve, reject) => {
      let open = sentinels.length;
      const decide = () => {
        open--;
        const best = [...votes.values()].sort((a, b) => b.count - a.count)[0];
        if (best === undefined) {
          if (open === 0)
            reject(new Error(`no sentinel knows where the master "${master}" is: ${faults.join("; ")}`));
        } else if (open === 0 || best.count > sentinels.length / 2) {
          this.#known = formatEndpoint(best.endpoint);
          resolve(best.endpoint);
        }
      };
      for (const sentinel of sentinels)
        this.#ask(sentinel).then(
          (endpoint) => {
            const vote = votes.get(formatEndpoint(endpoint));
            if (vote === undefined) votes.set(formatEndpoint(endpoint), { endpoint, count: 1 });
            else vote.count++;
            decide();
          },
          (error: Error) => {
            faults.push(error.message);
            decide();
          },
        );
    });
  }

  async #ask(sentinel: Endpoint): Promise<Endpoint> {
    const { tls, sentinelCredentials, master } = this.#address;
    let connection = this.#connections.get(sentinel);
    if (connection === undefined || connection.closed) {
      connection = await Connection.open({
        endpoint: sentinel,
        tls,
        greeting: greeting(sentinelCredentials),
        timeout: this.#timeout,
      });
      if (this.#closed) connection.destroy();
      this.#connections.set(sentinel, connection);
    }
    const [reply] = await connection.commands([["SENTINEL", "get-master-addr-by-name", master]]);
    if (reply instanceof ErrorReply) {
      connection.destroy();
      throw new Error(`the sentinel ${formatEndpoint(sentinel)} refused: ${reply.message}`);
    }
    if (!Array.isArray(reply) || reply.length !== 2)
      throw new Error(`${formatEndpoint(sentinel)} does not know "${master}"`);
    return { host: String(reply[0]), port: Number(reply[1]) };
  }
}
