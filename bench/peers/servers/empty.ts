/** `@grpc/grpc-js` with an empty handler: the transport cost of a call in Node without Tollgate. */
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { METHOD } from "../../support/tollgate.ts";

const answer = Buffer.from([0x08, 0x01]);
const pass = (bytes: Buffer): Buffer => bytes;
const server = new Server();
server.addService(
  {
    ShouldRateLimit: {
      path: METHOD,
      requestStream: false,
      responseStream: false,
      requestSerialize: pass,
      requestDeserialize: pass,
      responseSerialize: pass,
      responseDeserialize: pass,
    },
  },
  {
    ShouldRateLimit: (_call: unknown, callback: (error: null, value: Buffer) => void) =>
      callback(null, answer),
  },
);
server.bindAsync(`127.0.0.1:${process.env.BENCH_PORT}`, ServerCredentials.createInsecure(), (error) => {
  if (error !== null) throw error;
  console.log("ready");
});
