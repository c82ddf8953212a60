/** The whole path of each call in one process, from the bytes of a read to the bytes of a write, without the kernel. */
import { GrpcServer } from "@tollway/grpc-wire";
import { EmbeddedStore } from "../../packages/tollgate/src/counters/embedded/embedded-store.ts";
import type { ReservationStore } from "../../packages/tollgate/src/counters/reservations.ts";
import { Decider } from "../../packages/tollgate/src/decision/decide.ts";
import { serveDecisions } from "../../packages/tollgate/src/listeners/grpc-methods.ts";
import { serveReservations } from "../../packages/tollgate/src/listeners/grpc-reservations.ts";
import { RateLimitHandler } from "../../packages/tollgate/src/listeners/rate-limit-handler.ts";
import { ReservationHandler } from "../../packages/tollgate/src/listeners/reservation-handler.ts";
import { createLogger } from "../../packages/tollgate/src/observe/log.ts";
import { createStatistics } from "../../packages/tollgate/src/observe/registry.ts";
import { noTracing } from "../../packages/tollgate/src/observe/tracing/tracing.ts";
import { COMMIT, RESERVE, SHOULD_RATE_LIMIT } from "../../packages/tollgate/src/protocol/method.ts";
import { DEFAULT_REQUEST_LIMITS } from "../../packages/tollgate/src/protocol/request-limits.ts";
import { Reservations } from "../../packages/tollgate/src/reservations/reservations.ts";
import { loadRules } from "../../packages/tollgate/src/rules/load-rules.ts";
import { makeKvstore } from "../../packages/tollgate/test/counters/kvstore-support.ts";
import { threadMicroseconds } from "../support/cpu-time.ts";
import { decisionOptions } from "../support/decision.ts";
import { CALL_BYTES, MemoryConnection } from "../support/memory-connection.ts";
import { commitMessage, decisionMessage, reserveMessage, withId } from "./messages.ts";

/** Calls of one turn, those that wait at a time, and those of one read. */
export const CALLS = 1000;
const IN_FLIGHT = 100;
const READ = 50;
const ID_DIGITS = 40;
/** The tag of the id in a response, and its length. */
const ID_HEAD = Buffer.from([0x12, ID_DIGITS]);
/** A connection that calls one method, with the bytes of its responses. */
class Connection {
  /** The output of the server. */
  chunks: Buffer[] = [];
  readonly #memory: MemoryConnection;

  constructor(server: GrpcServer, path: string) {
    this.#memory = new MemoryConnection(server, path, false, (chunk) => this.chunks.push(Buffer.from(chunk)));
  }

  /** Lets the server read bytes. */
  pass(read: Buffer): void {
    this.#memory.emit("data", read);
  }

  /** The bytes of one read. */
  read(messages: readonly Buffer[]): Buffer {
    const out = Buffer.alloc(messages.length * CALL_BYTES);
    let at = 0;
    for (const message of messages) {
      const framed = this.#memory.begin(out, at, message.length + 5);
      out.writeUInt32BE(message.length, framed + 1);
      at = framed + 5 + message.copy(out, framed + 5);
    }
    return Buffer.from(out.subarray(0, at));
  }
}

export type Phase = "decision" | "Reserve" | "Commit";

export class ReservationPath {
  readonly #connections: Readonly<Record<Phase, Connection>>;
  readonly #users = Array.from({ length: CALLS }, (_, index) => `user-${index}`);
  #waiting = 0;
  #end: () => void = () => {};
  #ids: string[] = [];
  readonly #store: { close(): Promise<void> };

  /** @param redis the address of a server; undefined for embedded counters */
  constructor(limits: string, redis: string | undefined) {
    const text = `{ domain: bench, descriptors: [{ key: user, ${limits} }] }`;
    const { ruleSet } = loadRules([{ name: "rules.yaml", text }], { mergeDomains: false });
    const store: ReservationStore & { close(): Promise<void> } =
      redis === undefined ? EmbeddedStore.create() : makeKvstore({ url: redis, poolSize: 1 });
    this.#store = store;
    const statistics = createStatistics();
    const handler = new RateLimitHandler({
      decider: new Decider(decisionOptions, statistics, store),
      store,
      ruleSet: () => ruleSet,
      statistics,
      log: createLogger(),
    });
    const options = { ...decisionOptions, ttl: 600_000, maxFraction: 0.25, maxHolds: 10_000 };
    const reservations = new ReservationHandler({
      reservations: new Reservations(options, statistics, store),
      limits: DEFAULT_REQUEST_LIMITS,
      ruleSet: () => ruleSet,
    });
    const server = new GrpcServer({
      observer: {
        callFinished: (_path, _status, _milliseconds, calls) => {
          this.#waiting -= calls;
          if (this.#waiting === 0) this.#end();
        },
      },
    });
    serveDecisions(server, handler, noTracing);
    serveReservations(server, reservations, handler, noTracing);
    this.#connections = {
      decision: new Connection(server, SHOULD_RATE_LIMIT),
      Reserve: new Connection(server, RESERVE),
      Commit: new Connection(server, COMMIT),
    };
  }

  /** Makes {@link CALLS} calls. @returns nanoseconds of CPU of each */
  async run(phase: Phase): Promise<number> {
    const connection = this.#connections[phase];
    const messages = this.#users.map((user, index) => this.#message(phase, user, index));
    const reads: Buffer[] = [];
    for (let at = 0; at < CALLS; at += READ) reads.push(connection.read(messages.slice(at, at + READ)));
    connection.chunks = [];
    const start = threadMicroseconds();
    for (let at = 0; at < reads.length; at += IN_FLIGHT / READ)
      await new Promise<void>((end) => {
        this.#waiting = IN_FLIGHT;
        this.#end = end;
        for (const read of reads.slice(at, at + IN_FLIGHT / READ)) connection.pass(read);
      });
    const used = threadMicroseconds() - start;
    if (phase === "Reserve") this.#ids = idsOf(Buffer.concat(connection.chunks));
    return (used * 1000) / CALLS;
  }

  #message(phase: Phase, user: string, index: number): Buffer {
    if (phase === "decision") return decisionMessage(user);
    if (phase === "Reserve") return reserveMessage(user, 20);
    const message = commitMessage(user, 15);
    withId(message, this.#ids[index]!);
    return message;
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}

/** The ids in the responses, in the order of the calls. */
function idsOf(bytes: Buffer): string[] {
  const ids: string[] = [];
  for (let at = bytes.indexOf(ID_HEAD); at >= 0; at = bytes.indexOf(ID_HEAD, at + ID_HEAD.length + ID_DIGITS))
    ids.push(bytes.toString("latin1", at + ID_HEAD.length, at + ID_HEAD.length + ID_DIGITS));
  if (ids.length !== CALLS) throw new Error(`${ids.length} of ${CALLS} reservations have an id`);
  return ids;
}
