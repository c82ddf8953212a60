import type { Dependencies } from "./dependencies.ts";
import { StoreNode } from "./node.ts";
import { openConnection } from "./open-connection.ts";
import type { SingleTarget } from "./target.ts";
import type { Topology } from "./topology.ts";

/** One server at one address. */
export function singleTopology(target: SingleTarget, deps: Dependencies): Topology {
  const { address, database } = target;
  const { tls, credentials, timeout } = deps.options;
  const select = database === 0 ? [] : [["SELECT", String(database)]];
  const greeting = [...select, ["PING"]];
  const open = (exchangeTimeout = timeout) =>
    openConnection({ endpoint: address, tls, credentials, greeting, timeout, exchangeTimeout });
  const node = new StoreNode({
    ...deps,
    connect: () => open(),
    refused: () => false,
    lost: () => {},
  });
  return {
    submit(ticket) {
      node.submit(ticket);
    },
    groups: () => undefined,
    submitSteps(steps, ticket) {
      for (const step of steps) node.submitStep(step, ticket);
    },
    slotOf: () => 0,
    nodes: () => [node],
    open: (_slot, exchangeTimeout) => open(exchangeTimeout),
    servers: () => [() => open()],
    serves: () => true,
    isSharded: false,
    close: () => node.close(),
  };
}
