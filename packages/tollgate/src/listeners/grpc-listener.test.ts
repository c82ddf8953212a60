import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Server } from "node:net";
import { test } from "node:test";
import { EmbeddedStore } from "../counters/embedded/embedded-store.ts";
import { plainOptions } from "../decision/decide.fixture.ts";
import { Decider } from "../decision/decide.ts";
import { createHealth } from "../observe/health.ts";
import { createLogger } from "../observe/log.ts";
import { createStatistics } from "../observe/registry.ts";
import { noTracing } from "../observe/tracing/tracing.ts";
import { DEFAULT_REQUEST_LIMITS } from "../protocol/request-limits.ts";
import { Reservations } from "../reservations/reservations.ts";
import { openGrpcListener } from "./grpc-listener.ts";
import { RateLimitHandler } from "./rate-limit-handler.ts";
import { ReservationHandler } from "./reservation-handler.ts";

const LISTEN = "tracing:net.server.listen:asyncStart";

test("logs accept errors of the gRPC listener once a minute", async () => {
  const lines: string[] = [];
  const log = createLogger({
    writer: { write: (line) => void lines.push(line), flush: async () => {}, dropped: 0 },
  });
  const statistics = createStatistics();
  const store = EmbeddedStore.create({ sizeInBytes: 1 << 20, reclaimInterval: 0 });
  const decider = new Decider(plainOptions, statistics, store);
  const handler = new RateLimitHandler({ decider, store, statistics, ruleSet: () => undefined, log });
  let server: Server | undefined;
  function onListen(message: unknown): void {
    server = (message as { server: Server }).server;
  }
  subscribe(LISTEN, onListen);
  const listener = await openGrpcListener({
    where: { host: "127.0.0.1", port: 0 },
    certificates: undefined,
    maxRequestBytes: 1024,
    clientSan: undefined,
    maxConnectionAge: 0,
    maxConnectionAgeGrace: 0,
    threads: 1,
    handler,
    reservations: new ReservationHandler({
      reservations: new Reservations(
        { ...plainOptions, ttl: 1000, maxFraction: 1, maxHolds: 1 },
        statistics,
        store,
      ),
      limits: DEFAULT_REQUEST_LIMITS,
      ruleSet: () => undefined,
    }),
    tracing: noTracing,
    health: createHealth(log),
    statistics,
    log,
  });
  unsubscribe(LISTEN, onListen);
  try {
    for (let i = 0; i < 100; i++) server!.emit("error", new Error("accept EMFILE"));
    assert.equal(lines.length, 1, lines.join(""));
    assert.match(lines[0]!, /level=error msg="gRPC listener: cannot accept a connection: accept EMFILE"/);
  } finally {
    await listener.close(0);
    await store.close();
  }
});
