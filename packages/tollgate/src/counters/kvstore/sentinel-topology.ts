import { StoreError } from "../store.ts";
import { formatEndpoint } from "../transport/endpoint.ts";
import type { Connection } from "./connection.ts";
import type { Dependencies } from "./dependencies.ts";
import { StoreNode } from "./node.ts";
import { openConnection } from "./open-connection.ts";
import { SendMode } from "./part.ts";
import { SentinelWatch } from "./sentinel-watch.ts";
import type { SentinelTarget } from "./target.ts";
import type { Topology } from "./topology.ts";

/** A master with sentinels. Each new connection checks the master's role before its use. */
export function sentinelTopology(target: SentinelTarget, deps: Dependencies): Topology {
  const { tls, credentials, timeout } = deps.options;
  const watch = new SentinelWatch(target, deps.options, (from, to) => {
    deps.log("warn", `the master "${target.master}" moved from ${from} to ${to}`);
    node.pool.restart(new StoreError("STORE_UNAVAILABLE", `${from} is no longer the master`));
  });

  async function connect(exchangeTimeout = timeout): Promise<Connection> {
    const endpoint = await watch.master();
    const greeting = [["PING"]];
    const connection = await openConnection({
      endpoint,
      tls,
      credentials,
      greeting,
      timeout,
      exchangeTimeout,
    });
    try {
      const [role] = await connection.commands([["ROLE"]]);
      const name = Array.isArray(role) ? role[0] : undefined;
      if (name !== "master")
        throw new Error(`${formatEndpoint(endpoint)} is no longer the master: its role is ${name}`);
    } catch (error) {
      connection.destroy();
      throw error;
    }
    return connection;
  }

  const node: StoreNode = new StoreNode({
    ...deps,
    connect: () => connect(),
    // The master became a replica. Nothing was counted, and the part waits for the new master.
    refused(_, error, part) {
      if (error.code !== "READONLY") return false;
      node.push(part.again(SendMode.PLAIN));
      return true;
    },
    lost: () => {},
  });
  return {
    submit: (ticket) => node.submit(ticket),
    groups: () => undefined,
    submitSteps(steps, ticket) {
      for (const step of steps) node.submitStep(step, ticket);
    },
    slotOf: () => 0,
    nodes: () => [node],
    open: (_slot, exchangeTimeout) => connect(exchangeTimeout),
    servers: () => [() => connect()],
    serves: (_slot, endpoint) => watch.isMaster(endpoint),
    isSharded: false,
    close() {
      watch.close();
      node.close();
    },
  };
}
