import type { Address } from "./address.ts";
import { greeting } from "./address.ts";
import { Connection } from "./connection.ts";
import { StoreNode } from "./node.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Topology } from "./topology.ts";

/** One server at one address. */
export function singleTopology(address: Address & { type: "single" }, around: Surroundings): Topology {
  const { endpoint, tls, credentials, database } = address;
  const select = database === 0 ? [] : [["SELECT", String(database)]];
  const hello = greeting(credentials, ...select, ["PING"]);
  const node = new StoreNode({
    ...around,
    connect: () =>
      Connection.open({
        endpoint,
        tls,
        greeting: hello,
        timeout: around.options.timeout,
      }),
    refused: () => false,
    lost: () => {},
  });
  return {
    submit(ticket) {
      node.submit(ticket);
    },
    groups: () => undefined,
    nodes: () => [node],
    close: () => node.close(),
  };
}
