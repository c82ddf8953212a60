import { after, before, describe } from "node:test";
import { KvstoreStore } from "../../src/counters/kvstore/kvstore.ts";
import { RedisCluster } from "../servers/cluster.ts";
import { storeConformance } from "./conformance.ts";

describe("kvstore, cluster", () => {
  let cluster: RedisCluster;
  before(async () => {
    cluster = await RedisCluster.start(3);
  });
  after(() => cluster.stop());
  const open = () => new KvstoreStore({ type: "cluster", url: cluster.url, poolSize: 2 });
  const openByOne = () => new KvstoreStore({ type: "cluster", url: cluster.nodes[0]!.url, poolSize: 2 });

  storeConformance("kvstore cluster", { makeStore: open, makePeer: openByOne });
});
