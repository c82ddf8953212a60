/** A rate limit service of common Node libraries: grpc-js, generated messages, rate-limiter-flexible with Redis. */
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from "@grpc/grpc-js";
import { createClient } from "@redis/client";
import { RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import {
  type RateLimitRequest,
  RateLimitRequestSchema,
  type RateLimitResponse,
  RateLimitResponseSchema,
} from "../../../packages/tollgate/src/protocol/gen/envoy/service/ratelimit/v3/rls_pb.ts";
import { METHOD } from "../../support/tollgate.ts";

const client = createClient({ url: `redis://${process.env.BENCH_REDIS}` });
await client.connect();
const limiter = new RateLimiterRedis({
  storeClient: client,
  useRedisPackage: true,
  points: 1_000_000_000,
  duration: 3600,
});

async function decide(request: RateLimitRequest): Promise<RateLimitResponse> {
  const statuses = await Promise.all(
    request.descriptors.map(async ({ entries }) => {
      const key = `${request.domain}_${entries.map(({ key, value }) => `${key}_${value}`).join("_")}`;
      try {
        const { remainingPoints, msBeforeNext } = await limiter.consume(key);
        return {
          code: 1,
          limitRemaining: remainingPoints,
          durationUntilReset: { seconds: BigInt(Math.ceil(msBeforeNext / 1000)) },
        };
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        return { code: 2 };
      }
    }),
  );
  const overallCode = statuses.some(({ code }) => code === 2) ? 2 : 1;
  const init = { overallCode, statuses } as unknown as MessageInitShape<typeof RateLimitResponseSchema>;
  return create(RateLimitResponseSchema, init);
}

const server = new Server();
server.addService(
  {
    ShouldRateLimit: {
      path: METHOD,
      requestStream: false,
      responseStream: false,
      requestSerialize: (message: RateLimitRequest) => Buffer.from(toBinary(RateLimitRequestSchema, message)),
      requestDeserialize: (bytes: Buffer) => fromBinary(RateLimitRequestSchema, bytes),
      responseSerialize: (message: RateLimitResponse) =>
        Buffer.from(toBinary(RateLimitResponseSchema, message)),
      responseDeserialize: (bytes: Buffer) => fromBinary(RateLimitResponseSchema, bytes),
    },
  },
  {
    ShouldRateLimit: (
      call: ServerUnaryCall<RateLimitRequest, RateLimitResponse>,
      callback: sendUnaryData<RateLimitResponse>,
    ) => {
      decide(call.request).then(
        (response) => callback(null, response),
        (error: Error) => callback(error),
      );
    },
  },
);
server.bindAsync(`127.0.0.1:${process.env.BENCH_PORT}`, ServerCredentials.createInsecure(), (error) => {
  if (error !== null) throw error;
  console.log("ready");
});
