/** Messages of the benchmark, as a gateway sends them. */
import { create, toBinary } from "@bufbuild/protobuf";
import { RateLimitDescriptorSchema } from "../../packages/tollgate/src/protocol/gen/envoy/extensions/common/ratelimit/v3/ratelimit_pb.ts";
import {
  CommitRequestSchema,
  ReserveRequestSchema,
} from "../../packages/tollgate/src/protocol/gen/kuadrant/service/ratelimit/v1/ratelimit_pb.ts";
import { message } from "../support/decision.ts";

/** The place of the id in the messages of `commitMessage`. */
const NO_ID = "0".repeat(40);

const descriptors = (user: string) => [
  create(RateLimitDescriptorSchema, { entries: [{ key: "user", value: user }] }),
];

export function decisionMessage(user: string): Buffer {
  return Buffer.from(message(`user=${user}`));
}

export function reserveMessage(user: string, amount: number): Buffer {
  const request = create(ReserveRequestSchema, {
    domain: "bench",
    descriptors: descriptors(user),
    amount: BigInt(amount),
  });
  return Buffer.from(toBinary(ReserveRequestSchema, request));
}

export function commitMessage(user: string, actual: number): Buffer {
  const request = create(CommitRequestSchema, {
    domain: "bench",
    descriptors: descriptors(user),
    reservationId: NO_ID,
    actualAmount: BigInt(actual),
  });
  return Buffer.from(toBinary(CommitRequestSchema, request));
}

/** Writes an id into a message of `commitMessage`: its amount is one byte with its tag before. */
export function withId(bytes: Buffer, id: string): void {
  bytes.write(id, bytes.length - 2 - id.length, "latin1");
}
