/** The whole path of each call in one process, from the bytes of a read to the bytes of a write, without the kernel. */
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
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
import { EnvoyHeaders } from "../gateway/envoy-headers.ts";
import { threadMicroseconds } from "../support/cpu-time.ts";
import { decisionOptions } from "../support/decision.ts";
import { commitMessage, decisionMessage, reserveMessage, withId } from "./messages.ts";

/** Calls of one turn, and of one read. */
export const CALLS = 1000;
const READ = 50;
/** A message of one descriptor is shorter. */
const CALL_BYTES = 512;
const ID_DIGITS = 40;
/** The tag of the id in a response, and its length. */
const ID_HEAD = Buffer.from([0x12, ID_DIGITS]);
const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
/** The largest window: the client reads everything. */
const window = [0, 0, 4, 8, 0, 0, 0, 0, 0, 0x3f, 0xff, 0, 0];

/** A connection without a kernel that calls one method. */
class Connection extends EventEmitter {
  readonly writable = true;
  readonly writableLength = 0;
  readonly remoteAddress = "127.0.0.1";
  /** The bytes that the server has written. */
  chunks: Buffer[] = [];
  readonly #headers: EnvoyHeaders;
  #stream = 1;

  constructor(server: GrpcServer, path: string) {
    super();
    this.#headers = new EnvoyHeaders(path, false);
    server.serve(this as unknown as Socket);
    this.emit("data", Buffer.concat([preface, Buffer.from([...settings, ...window])]));
  }

  write(chunk: Uint8Array): boolean {
    this.chunks.push(Buffer.from(chunk));
    return true;
  }
  setNoDelay(): void {}
  pause(): void {}
  resume(): void {}
  end(): void {}
  destroy(): void {}

  /** The bytes of one read. */
  read(messages: readonly Buffer[]): Buffer {
    const out = Buffer.alloc(messages.length * CALL_BYTES);
    let at = 0;
    for (const message of messages) {
      const data = this.#headers.write(out, at + 9, undefined);
      this.#head(out, at, data - at - 9, 1, 4);
      this.#head(out, data, message.length + 5, 0, 1);
      out.writeUInt32BE(message.length, data + 10);
      at = data + 14 + message.copy(out, data + 14);
      this.#stream += 2;
    }
    return Buffer.from(out.subarray(0, at));
  }

  #head(out: Buffer, at: number, length: number, type: number, flags: number): void {
    out.writeUIntBE(length, at, 3);
    out[at + 3] = type;
    out[at + 4] = flags;
    out.writeUInt32BE(this.#stream, at + 5);
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
    this.#waiting = CALLS;
    const start = threadMicroseconds();
    await new Promise<void>((end) => {
      this.#end = end;
      for (const read of reads) connection.emit("data", read);
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
