/** Attacks that succeeded once, by name. Each run starts with them. */
import { gzipSync } from "node:zlib";
import { callFields, message, type, uint32 } from "../../grpc-wire/test/support/raw-client.ts";
import { SHOULD_RATE_LIMIT } from "../src/protocol/method.ts";
import { lengthDelimited, varintField } from "./request-bytes.ts";
import type { ExpectedCall, GrpcSession, Session, Step } from "./session.ts";

const END_STREAM = 0x1;
const END_HEADERS = 0x4;
const FRAME_BYTES = 16_384;

function call(id: number, bytes: Buffer, fields: [string, string][] = []): Step[] {
  const steps: Step[] = [
    { kind: "headers", id, flags: END_HEADERS, fields: callFields(SHOULD_RATE_LIMIT, fields) },
  ];
  for (let at = 0; at < bytes.length; at += FRAME_BYTES) {
    const payload = bytes.subarray(at, at + FRAME_BYTES);
    const flags = at + FRAME_BYTES >= bytes.length ? END_STREAM : 0;
    steps.push({ kind: "frame", type: type.data, flags, id, payload });
  }
  return steps;
}

function session(steps: readonly Step[], more: Partial<GrpcSession> = {}): GrpcSession {
  return { protocol: "grpc", initialWindow: 65_535, steps, expected: [], ending: "answered", ...more };
}

const text = (field: number, value: Uint8Array | string) =>
  lengthDelimited(field, Buffer.from(value as string));

function request(domain: Uint8Array | string, ...descriptors: Uint8Array[]): Buffer {
  return Buffer.concat([text(1, domain), ...descriptors.map((each) => lengthDelimited(2, each))]);
}

function descriptor(key: Uint8Array | string, value: Uint8Array | string): Buffer {
  return lengthDelimited(1, Buffer.concat([text(1, key), text(2, value)]));
}

const turns = (count: number): Step => ({ kind: "turns", count });

/** A session of one call that must be answered. */
function validCall(bytes: Buffer, statuses: number, fields: [string, string][] = [], flag = 0): GrpcSession {
  const calls: ExpectedCall[] = [{ id: 1, statuses }];
  return session(call(1, message(bytes, flag), fields), { expected: calls });
}

const emptyDescriptors = (count: number) =>
  Buffer.concat([text(1, "fuzz"), Buffer.alloc(2 * count, "\x12\x00")]);

const override = Buffer.concat([varintField(1, 5n), varintField(2, 2n)]);

export const attacks: Readonly<Record<string, readonly Session[]>> = {
  "a gzip of two million empty descriptors": [
    session(call(1, message(gzipSync(emptyDescriptors(2_000_000)), 1), [["grpc-encoding", "gzip"]])),
  ],
  "a hundred thousand entries in one descriptor": [
    session(call(1, message(request("fuzz", Buffer.alloc(200_000, "\x0a\x00"))))),
  ],
  "bytes that are not UTF-8, everywhere": [
    validCall(request("fuzz", descriptor("user", Buffer.from([0x6d, 0xff, 0xfe]))), 1),
    validCall(request("fuzz", descriptor(Buffer.from([0xff]), "v")), 1),
    validCall(request(Buffer.from([0xed, 0xa0, 0x80]), descriptor("user", "v")), 1),
  ],
  "values as long as a message": [
    validCall(request("fuzz", descriptor("user", "=".repeat(250_000))), 1),
    validCall(request("fuzz", descriptor("k", Buffer.alloc(250_000, 0xff))), 1),
  ],
  "a hundred descriptors with their own limits": [
    validCall(
      request(
        "fuzz",
        ...Array.from({ length: 100 }, (_, i) =>
          Buffer.concat([descriptor("user", `${"%".repeat(2000)}${i}`), lengthDelimited(2, override)]),
        ),
      ),
      100,
    ),
  ],
  "four hundred domains of 200 KB": Array.from({ length: 8 }, (_, part) =>
    session(
      Array.from({ length: 50 }, (_, i) => [
        ...call(2 * i + 1, message(request(`${part}-${i}-${"d".repeat(200_000)}`, descriptor("k", "v")))),
        turns(2),
      ]).flat(),
    ),
  ),
  "detailed metrics of 200 KB": Array.from({ length: 4 }, (_, part) =>
    session(
      Array.from({ length: 50 }, (_, i) => [
        ...call(2 * i + 1, message(request("fuzz", descriptor("k", `${part}-${i}-${"v".repeat(200_000)}`)))),
        turns(2),
      ]).flat(),
    ),
  ),
  "windows of zero, then data": Array.from({ length: 4 }, () =>
    session(
      [
        ...Array.from({ length: 90 }, (_, i): Step[] => {
          const [headers, ...data] = call(
            2 * i + 1,
            message(request("fuzz", descriptor("user", "v".repeat(8000)))),
          );
          return [headers!, ...data];
        }).flat(),
        turns(20),
      ],
      { initialWindow: 0, ending: "reset" },
    ),
  ),
  "WINDOW_UPDATE and DATA on closed streams": [
    session([
      ...call(1, message(request("fuzz", descriptor("user", "v")))),
      turns(5),
      ...Array.from({ length: 5000 }, (): Step[] => [
        { kind: "frame", type: type.windowUpdate, flags: 0, id: 1, payload: uint32(1) },
        { kind: "frame", type: type.data, flags: 0, id: 1, payload: Buffer.alloc(1) },
      ]).flat(),
      turns(20),
    ]),
  ],
  "a megabyte of digits, deep brackets, many members": [
    http(`{"domain":"fuzz","hitsAddend":${"9".repeat(200_000)},"descriptors":[{}]}`),
    http("[".repeat(200_000)),
    http(`{"domain":"fuzz","descriptors":[${Array(60_000).fill("{}").join()}]}`),
  ],
};

function http(body: string): Session {
  const head = `POST /json HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
  return {
    protocol: "http",
    steps: [{ kind: "bytes", bytes: Buffer.from(head + body) }, turns(20)],
    expected: [],
    ending: "answered",
  };
}
