import { after, before, describe } from "node:test";
import { scaled } from "../../../../tools/time-scale.ts";
import { RedisServer } from "../servers/redis.ts";
import { inPlace, storeConformance } from "./conformance.ts";
import { makeKvstore } from "./kvstore-support.ts";

describe("kvstore, single", () => {
  let redis: RedisServer;
  before(async () => {
    redis = await RedisServer.start();
  });
  after(() => redis.stop());

  storeConformance("kvstore single", {
    makeStore: () => makeKvstore({ url: redis.url, expirationJitterMaxSeconds: 1 }),
    makePeer: () => makeKvstore({ url: redis.url, poolSize: 1 }),
    holds: async (_, key) => (await redis.command("EXISTS", key)) === 1,
    goneWithin: scaled(7000),
  });
  storeConformance("kvstore single, stems in place", {
    makeStore: () => inPlace(makeKvstore({ url: redis.url, poolSize: 2 })),
  });
  storeConformance("kvstore single, one connection, pipeline window", {
    makeStore: () => makeKvstore({ url: redis.url, poolSize: 1, pipelineWindow: 2 }),
  });
});
