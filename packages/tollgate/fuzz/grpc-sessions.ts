/** Arbitrary clients of the gRPC port: all kinds of calls, with interleaved, changed, truncated and delayed frames. */
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { callFields, message, type, uint32 } from "../../grpc-wire/test/support/raw-client.ts";
import { SHOULD_RATE_LIMIT } from "../src/protocol/method.ts";
import { hostileRequests, validRequests } from "./request-bytes.ts";
import type { Ending, ExpectedCall, GrpcSession, Step } from "./session.ts";

interface Call {
  readonly headers: Step;
  readonly body: readonly Step[];
  readonly expected: ExpectedCall | undefined;
}

const END_STREAM = 0x1;
const END_HEADERS = 0x4;
/** SETTINGS_MAX_FRAME_SIZE by default (RFC 9113, section 6.5.2). */
const MAX_FRAME_BYTES = 16_384;

function bodyFrames(id: number, bytes: Buffer, cuts: readonly number[]): Step[] {
  const ends = new Set([bytes.length, ...cuts.map((share) => Math.floor(share * bytes.length))]);
  for (let at = MAX_FRAME_BYTES; at < bytes.length; at += MAX_FRAME_BYTES) ends.add(at);
  const sorted = [...ends].filter((end) => end > 0).sort((a, b) => a - b);
  return sorted.map((end, index) => ({
    kind: "frame",
    type: type.data,
    flags: end === bytes.length ? END_STREAM : 0,
    id,
    payload: bytes.subarray(sorted[index - 1] ?? 0, end),
  }));
}

const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const cuts = fc.array(share, { maxLength: 3 });
const tags = fc.array(
  fc.tuple(fc.constantFrom("x-request-id", "traceparent", "user-agent"), fc.stringMatching(/^[!-~]{1,60}$/)),
  { maxLength: 3 },
);

/** Calls that the service must answer. */
const validCall = fc
  .record({ request: validRequests, gzip: fc.boolean(), cuts, tags })
  .map((shape) => (id: number): Call => {
    const { request, gzip } = shape;
    const fields = [...shape.tags, ...(gzip ? [["grpc-encoding", "gzip"] as [string, string]] : [])];
    const bytes = gzip ? message(gzipSync(request.bytes), 1) : message(request.bytes);
    return {
      headers: {
        kind: "headers",
        id,
        flags: END_HEADERS,
        fields: callFields(SHOULD_RATE_LIMIT, fields as [string, string][]),
      },
      body: bodyFrames(id, bytes, shape.cuts),
      expected: { id, statuses: request.descriptors },
    };
  });

const paths = fc.constantFrom(
  SHOULD_RATE_LIMIT,
  SHOULD_RATE_LIMIT,
  SHOULD_RATE_LIMIT,
  "/grpc.health.v1.Health/Check",
  "/grpc.health.v1.Health/Watch",
  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
  "/no.Such/Method",
  "/",
  "",
);

const hostileFields = fc.array(
  fc.oneof(
    fc.tuple(
      fc.constant("grpc-timeout"),
      fc.constantFrom("1n", "0S", "99999999H", "1", "-1S", "100000000S", "1m"),
    ),
    fc.tuple(fc.constant("grpc-encoding"), fc.constantFrom("gzip", "identity", "br", "")),
    fc.tuple(fc.constant("content-length"), fc.constantFrom("0", "5", "99999999999999999999", "x")),
    fc.tuple(fc.constantFrom("te", "connection", "Upper", ":path", "x"), fc.string({ maxLength: 40 })),
    fc.tuple(
      fc.constant("x-large"),
      fc.nat(20_000).map((length) => "v".repeat(length)),
    ),
  ),
  { maxLength: 3 },
);

/** Calls that the service may refuse. */
const hostileCall = fc
  .record({
    path: paths,
    request: hostileRequests,
    gzip: fc.constantFrom("none", "whole", "cut", "flag only"),
    fields: hostileFields,
    flags: fc.constantFrom(END_HEADERS, END_HEADERS, END_HEADERS | END_STREAM, 0),
    cuts,
    prefix: fc.constantFrom("right", "right", "too long", "too short"),
  })
  .map((shape) => (id: number): Call => {
    const packed = shape.gzip === "whole" || shape.gzip === "cut" ? gzipSync(shape.request) : shape.request;
    const content = shape.gzip === "cut" ? packed.subarray(0, packed.length >> 1) : packed;
    const bytes = message(content, shape.gzip === "none" ? 0 : 1);
    if (shape.prefix === "too long") bytes.writeUInt32BE(content.length + 1000, 1);
    if (shape.prefix === "too short") bytes.writeUInt32BE(content.length >> 1, 1);
    const fields = shape.gzip === "none" ? shape.fields : [["grpc-encoding", "gzip"], ...shape.fields];
    return {
      headers: {
        kind: "headers",
        id,
        flags: shape.flags,
        fields: callFields(shape.path, fields as [string, string][]),
      },
      body: bodyFrames(id, bytes, shape.cuts),
      expected: undefined,
    };
  });

/** Frames of the connection and of unknown streams, and changes of windows. */
const controls: fc.Arbitrary<Step> = fc.oneof(
  fc.nat(0x7fffffff).map((window) => settingsStep(4, window)),
  fc.nat(200_000).map((size) => settingsStep(5, size)),
  fc.tuple(fc.nat(40), fc.nat(0x7fffffff)).map(([id, bytes]) => windowUpdate(id, bytes)),
  fc.constant<Step>({ kind: "frame", type: type.ping, flags: 0, id: 0, payload: Buffer.alloc(8) }),
  fc.nat(40).map((id): Step => ({ kind: "frame", type: type.reset, flags: 0, id, payload: uint32(8) })),
  fc
    .record({
      type: fc.nat(12),
      flags: fc.nat(255),
      id: fc.oneof(fc.nat(40), fc.nat(0x7fffffff)),
      payload: fc.uint8Array({ maxLength: 64 }),
    })
    .map((fields): Step => ({ kind: "frame", ...fields })),
  fc.uint8Array({ maxLength: 40 }).map((bytes): Step => ({ kind: "bytes", bytes })),
);

const rests: fc.Arbitrary<Step> = fc.oneof(
  fc.integer({ min: 1, max: 5 }).map((count): Step => ({ kind: "turns", count })),
  fc.boolean().map((on): Step => ({ kind: "read", on })),
);

function settingsStep(setting: number, value: number): Step {
  const payload = Buffer.concat([Buffer.from([0, setting]), uint32(value)]);
  return { kind: "frame", type: type.settings, flags: 0, id: 0, payload };
}

function windowUpdate(id: number, bytes: number): Step {
  return { kind: "frame", type: type.windowUpdate, flags: 0, id, payload: uint32(bytes) };
}

/** HEADERS in the order of their stream ids, as the protocol requires; DATA in between, in any order. */
function interleave(calls: readonly Call[], order: readonly number[], between: readonly Step[]): Step[] {
  const steps: Step[] = [];
  const waiting = [...calls];
  const open: Step[][] = [];
  const extra = [...between];
  for (let turn = 0; waiting.length > 0 || open.length > 0; turn++) {
    const choice = order[turn % order.length]!;
    if (extra.length > 0 && choice % 5 === 0) steps.push(extra.pop()!);
    if (waiting.length > 0 && (open.length === 0 || choice % 3 === 0)) {
      const call = waiting.shift()!;
      steps.push(call.headers);
      if (call.body.length > 0) open.push([...call.body]);
    } else {
      const index = choice % open.length;
      steps.push(open[index]!.shift()!);
      if (open[index]!.length === 0) open.splice(index, 1);
    }
  }
  return [...steps, ...extra];
}

const order = fc.array(fc.nat(100), { minLength: 40, maxLength: 40 });
const windows = fc.constantFrom(0, 1, 5, 100, 65_535, 0x7fffffff);
const endings = fc.constantFrom<Ending>("close", "reset", "half-close", "answered");

export const validGrpcSessions: fc.Arbitrary<GrpcSession> = fc
  .record({
    calls: fc.array(validCall, { minLength: 1, maxLength: 12 }),
    order,
    rests: fc.array(
      rests.filter((step) => step.kind === "turns"),
      { maxLength: 4 },
    ),
    initialWindow: windows,
    ending: endings,
  })
  .map(({ calls, order: turns, rests: between, initialWindow, ending }) => {
    const built = calls.map((build, index) => build(index * 2 + 1));
    return {
      protocol: "grpc",
      initialWindow,
      steps: interleave(built, turns, between),
      expected: built.flatMap(({ expected }) => expected ?? []),
      ending,
    };
  });

/** A change of one step of a session. Its position is a fraction of the session. */
const changes = fc
  .tuple(
    fc.constantFrom("drop", "double", "last", "flags", "id", "payload", "shorten"),
    share,
    share,
    fc.nat(255),
  )
  .map(([kind, where, inner, value]) => (steps: Step[]): void => {
    const index = Math.floor(where * steps.length);
    const chosen = steps[index];
    if (chosen === undefined) return;
    if (kind === "drop") steps.splice(index, 1);
    else if (kind === "double") steps.splice(index, 0, chosen);
    else if (kind === "last") steps.push(...steps.splice(index, 1));
    else if (chosen.kind === "headers" || chosen.kind === "frame") {
      if (kind === "flags") steps[index] = { ...chosen, flags: value };
      else if (kind === "id") steps[index] = { ...chosen, id: value % 40 };
      else if (chosen.kind === "frame") {
        const at = Math.floor(inner * chosen.payload.length);
        if (kind === "shorten") steps[index] = { ...chosen, payload: chosen.payload.subarray(0, at) };
        else if (at < chosen.payload.length) {
          const payload = Buffer.from(chosen.payload);
          payload[at]! ^= value;
          steps[index] = { ...chosen, payload };
        }
      }
    }
  });

export const hostileGrpcSessions: fc.Arbitrary<GrpcSession> = fc
  .record({
    calls: fc.array(fc.oneof(validCall, hostileCall), { minLength: 1, maxLength: 12 }),
    order,
    between: fc.array(fc.oneof(controls, rests), { maxLength: 12 }),
    changes: fc.array(changes, { maxLength: 4 }),
    initialWindow: windows,
    ending: endings,
  })
  .map(({ calls, order: turns, between, changes: all, initialWindow, ending }) => {
    const built = calls.map((build, index) => build(index * 2 + 1));
    const steps = interleave(built, turns, between);
    for (const change of all) change(steps);
    return { protocol: "grpc", initialWindow, steps, expected: [], ending };
  });
