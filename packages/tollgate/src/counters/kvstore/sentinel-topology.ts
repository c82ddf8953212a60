import { StoreError } from "../store.ts";
import { formatEndpoint } from "../transport/endpoint.ts";
import { Connection } from "./connection.ts";
import type { Dependencies } from "./dependencies.ts";
import { StoreNode } from "./node.ts";
import { SentinelWatch } from "./sentinel-watch.ts";
import type { SentinelTarget } from "./target.ts";
import type { Topology } from "./topology.ts";

/** The master that the sentinels name; it is asked whether it is one before it is used. */
export function sentinelTopology(target: SentinelTarget, deps: Dependencies): Topology {
  const { tls, credentials, timeout } = deps.options;
  const watch = new SentinelWatch(target, deps.options, (from, to) => {
    deps.log("warn", `the master "${target.master}" moved from ${from} to ${to}`);
    node.pool.restart(new StoreError("STORE_UNAVAILABLE", `${from} is not the master any more`));
  });

  async function connect(): Promise<Connection> {
    const endpoint = await watch.master();
    const connection = await Connection.open({ endpoint, tls, credentials, greeting: [["PING"]], timeout });
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
    ...deps,
    connect,
    // The master was made a replica: nothing was counted, and the count waits for its successor.
    refused(_, error, count, ticket) {
      if (error.code !== "READONLY") return false;
      node.push(count, ticket, 0);
      return true;
    },
    lost: () => {},
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
