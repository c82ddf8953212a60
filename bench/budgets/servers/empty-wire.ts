/** An empty handler on grpc-wire: the share of a figure outside the decision. */
import { GrpcServer } from "@tollway/grpc-wire";
import { METHOD } from "../../support/tollgate.ts";

const server = new GrpcServer().unaryInPlace(METHOD, (call) => {
  call.reserve(0);
  call.commit(0);
});
await server.listen({ host: "127.0.0.1", port: Number(process.env.BENCH_PORT) });
console.log("ready");
