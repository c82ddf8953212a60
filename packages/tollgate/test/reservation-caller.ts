/** A gateway that reserves and commits, over gRPC with an independent client, or over HTTP. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { scaled } from "../../../tools/time-scale.ts";
import { RateLimitDescriptorSchema } from "../src/protocol/gen/envoy/extensions/common/ratelimit/v3/ratelimit_pb.ts";
import {
  RateLimitRequestSchema,
  RateLimitResponseSchema,
} from "../src/protocol/gen/envoy/service/ratelimit/v3/rls_pb.ts";
import {
  CommitRequestSchema,
  CommitResponseSchema,
  ReserveRequestSchema,
  ReserveResponseSchema,
} from "../src/protocol/gen/kuadrant/service/ratelimit/v1/ratelimit_pb.ts";

const SERVICE = "/kuadrant.service.ratelimit.v1.RateLimitService";
const CODES = ["UNKNOWN", "OK", "OVER_LIMIT"];

export interface Reserved {
  readonly code: string;
  readonly id: string;
  readonly reserved: number;
}

/** Each descriptor is one text: `key=value,key2=value2`. */
export interface ReservationCaller {
  check(descriptors: string | readonly string[], hits?: number): Promise<string>;
  report(descriptors: string | readonly string[], hits?: number): Promise<string>;
  /** @param ttl milliseconds */
  reserve(descriptors: string | readonly string[], amount: number, ttl?: number): Promise<Reserved>;
  commit(descriptors: string | readonly string[], id: string, actual: number): Promise<boolean>;
  close(): void;
}

function entriesOf(text: string) {
  return text.split(",").map((pair) => {
    const at = pair.indexOf("=");
    return { key: pair.slice(0, at), value: pair.slice(at + 1) };
  });
}

function listOf(descriptors: string | readonly string[]): readonly string[] {
  return typeof descriptors === "string" ? [descriptors] : descriptors;
}

export function grpcReservations(address: string, domain = "llm"): ReservationCaller {
  const client = new Client(address, credentials.createInsecure());
  const call = <Response>(method: string, bytes: Uint8Array, read: (message: Buffer) => Response) =>
    new Promise<Response>((resolve, reject) => {
      const done = (error: ServiceError | null, response?: Response) =>
        error === null ? resolve(response as Response) : reject(error);
      const write = (message: Uint8Array) => Buffer.from(message);
      client.makeUnaryRequest(
        `${SERVICE}/${method}`,
        write,
        read,
        bytes,
        { deadline: Date.now() + scaled(20_000) },
        done,
      );
    });
  const described = (descriptors: string | readonly string[]) =>
    listOf(descriptors).map((text) => create(RateLimitDescriptorSchema, { entries: entriesOf(text) }));
  const decide = async (method: string, descriptors: string | readonly string[], hits: number) => {
    const request = create(RateLimitRequestSchema, {
      domain,
      hitsAddend: 0,
      descriptors: described(descriptors),
    });
    for (const descriptor of request.descriptors) descriptor.hitsAddend = BigInt(hits);
    const bytes = toBinary(RateLimitRequestSchema, request);
    const response = await call(method, bytes, (message) => fromBinary(RateLimitResponseSchema, message));
    return `${CODES[response.overallCode]} ${response.statuses.map(({ limitRemaining }) => limitRemaining).join()}`;
  };
  return {
    check: (descriptors, hits = 1) => decide("CheckRateLimit", descriptors, hits),
    report: (descriptors, hits = 1) => decide("Report", descriptors, hits),
    async reserve(descriptors, amount, ttl) {
      const request = create(ReserveRequestSchema, {
        domain,
        descriptors: described(descriptors),
        amount: BigInt(amount),
        ...(ttl !== undefined && {
          ttl: { seconds: BigInt(Math.floor(ttl / 1000)), nanos: (ttl % 1000) * 1e6 },
        }),
      });
      const bytes = toBinary(ReserveRequestSchema, request);
      const { code, reservationId, reservedAmount } = await call("Reserve", bytes, (message) =>
        fromBinary(ReserveResponseSchema, message),
      );
      return { code: CODES[code]!, id: reservationId, reserved: Number(reservedAmount) };
    },
    async commit(descriptors, id, actual) {
      const request = create(CommitRequestSchema, {
        domain,
        descriptors: described(descriptors),
        reservationId: id,
        actualAmount: BigInt(actual),
      });
      const bytes = toBinary(CommitRequestSchema, request);
      const read = (message: Buffer) => fromBinary(CommitResponseSchema, message);
      return (await call("Commit", bytes, read)).reservationReleased;
    },
    close: () => client.close(),
  };
}

/** @param address `127.0.0.1:8080` */
export function httpReservations(address: string, domain = "llm"): ReservationCaller {
  const described = (descriptors: string | readonly string[], hits?: number) =>
    listOf(descriptors).map((text) => ({
      entries: entriesOf(text),
      ...(hits !== undefined && { hitsAddend: hits }),
    }));
  const call = async (method: string, body: object, refused = 429) => {
    const response = await fetch(`http://${address}/v1/${method}`, {
      method: "POST",
      body: JSON.stringify({ domain, ...body }),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (response.status !== 200 && response.status !== refused)
      throw Object.assign(new Error(String(answer.detail)), { status: response.status, answer });
    return { status: response.status, answer };
  };
  const decide = async (method: string, descriptors: string | readonly string[], hits: number) => {
    const { answer } = await call(method, { descriptors: described(descriptors, hits) });
    const statuses = answer.statuses as readonly { limitRemaining?: number }[];
    return `${answer.overallCode} ${statuses.map(({ limitRemaining = 0 }) => limitRemaining).join()}`;
  };
  return {
    check: (descriptors, hits = 1) => decide("check", descriptors, hits),
    report: (descriptors, hits = 1) => decide("report", descriptors, hits),
    async reserve(descriptors, amount, ttl) {
      const { answer } = await call("reserve", {
        descriptors: described(descriptors),
        amount,
        ...(ttl !== undefined && { ttl: `${ttl / 1000}s` }),
      });
      return {
        code: String(answer.code),
        id: String(answer.reservationId ?? ""),
        reserved: Number(answer.reservedAmount ?? 0),
      };
    },
    async commit(descriptors, id, actual) {
      const body = { descriptors: described(descriptors), reservationId: id, actual_amount: String(actual) };
      return (await call("commit", body)).answer.reservationReleased === true;
    },
    close() {},
  };
}
