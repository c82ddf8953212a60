/** A handler on grpc-wire that makes one round trip to Redis for each call: the least that a decision over Redis waits. */
import { connect } from "node:net";
import { GrpcServer, type UnaryCall } from "@tollway/grpc-wire";
import { METHOD } from "../../support/tollgate.ts";

const PING = "*1\r\n$4\r\nPING\r\n";
const PONG = "+PONG\r\n";
const [host, port] = process.env.BENCH_REDIS!.split(":");
const redis = connect({ host: host!, port: Number(port), noDelay: true });
/** Calls whose PING is sent, in order, and calls of this turn of the event loop. */
const sent: UnaryCall[] = [];
let waiting: UnaryCall[] = [];
let bytes = 0;

function send(): void {
  redis.write(PING.repeat(waiting.length));
  sent.push(...waiting);
  waiting = [];
}

redis.on("data", (chunk: Buffer) => {
  bytes += chunk.length;
  for (const call of sent.splice(0, Math.floor(bytes / PONG.length))) {
    call.reserve(0);
    call.commit(0);
  }
  bytes %= PONG.length;
});

const server = new GrpcServer().unaryInPlace(METHOD, (call) => {
  if (waiting.push(call) === 1) setImmediate(send);
});
await server.listen({ host: "127.0.0.1", port: Number(process.env.BENCH_PORT) });
console.log("ready");
