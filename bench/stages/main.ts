/**
 * `npm run bench -- stages`: measures each stage of a decision, from the bytes of a read to the bytes of a write, and the
 * remaining share of sockets and the kernel. Stages are in nanoseconds of this thread's CPU, as medians of rounds. The
 * total is the server's CPU in microseconds under h2load (8 connections x 50 streams) in the same run.
 */

import { FrameReader } from "../../packages/grpc-wire/src/frames/reader.ts";
import { HpackDecoder } from "../../packages/grpc-wire/src/hpack/decoder.ts";
import { readHead } from "../../packages/grpc-wire/src/http2/request-head.ts";
import { HoldBack, Outcome, Refuses } from "../../packages/tollgate/src/counters/store.ts";
import { newStatus } from "../../packages/tollgate/src/decision/scratch.ts";
import { tally } from "../../packages/tollgate/src/decision/tally.ts";
import { decodeRequest } from "../../packages/tollgate/src/protocol/decode-request.ts";
import { maxResponseSize, writeResponse } from "../../packages/tollgate/src/protocol/encode-response.ts";
import type { RateLimitResponse } from "../../packages/tollgate/src/protocol/messages.ts";
import { RequestPlaces } from "../../packages/tollgate/src/protocol/scan-request.ts";
import { cpuNanoseconds } from "../support/cpu-time.ts";
import { decisionOptions, decisions, message } from "../support/decision.ts";
import { median, spread, table } from "../support/figures.ts";
import { framedFile, h2load } from "../support/h2load.ts";
import { METHOD, startTollgate } from "../support/tollgate.ts";

const ROUNDS = 7;

/** Measures the nanoseconds of one call of `run`, one figure per round. */
const time = (run: (call: number) => void): number[] => cpuNanoseconds(ROUNDS, run);

/** Builds the bytes of `count` calls from a client, with a HEADERS and a DATA frame per call. */
function conversation(bytes: Uint8Array, block: Buffer, count: number): Buffer {
  const frames: Buffer[] = [];
  const frame = (type: number, flags: number, stream: number, payload: Uint8Array) => {
    const header = Buffer.alloc(9);
    header.writeUIntBE(payload.length, 0, 3);
    header[3] = type;
    header[4] = flags;
    header.writeUInt32BE(stream, 5);
    frames.push(header, Buffer.from(payload));
  };
  const framed = Buffer.alloc(5 + bytes.length);
  framed.writeUInt32BE(bytes.length, 1);
  framed.set(bytes, 5);
  for (let call = 0; call < count; call++) {
    frame(1, 4, 2 * call + 1, block);
    frame(0, 1, 2 * call + 1, framed);
  }
  return Buffer.concat(frames);
}

/** A header block of indexed `:method` and `:scheme` fields and literals without indexing. */
function headerBlock(path: string = METHOD, isSchemeFirst = false): Buffer {
  const literal = (name: string, value: string) =>
    Buffer.concat([
      Buffer.from([0x00, name.length]),
      Buffer.from(name),
      Buffer.from([value.length]),
      Buffer.from(value),
    ]);
  return Buffer.concat([
    Buffer.from(isSchemeFirst ? [0x86, 0x83] : [0x83, 0x86]),
    literal(":path", path),
    literal(":authority", "localhost:8081"),
    literal("te", "trailers"),
    literal("content-type", "application/grpc"),
  ]);
}

export async function main(): Promise<void> {
  console.log(await measureStages());
}

/** Returns a Markdown table and the share of the total outside the stages. */
export async function measureStages(): Promise<string> {
  const { ruleSet, store, decider, handler } = decisions();
  const bytes = message("path=/api/a,remote_address=192.0.2.1");
  const request = decodeRequest(bytes, 0, bytes.length);
  const { entries } = request.descriptors[0]!;
  const prepared = decider.prepare(request, ruleSet);
  const { resolution } = prepared.parts[0]!;
  const match = ruleSet.match("bench", entries)!;
  const now = Date.now();
  const seconds = Math.floor(now / 1000);
  const count = () => ({
    stem: resolution.stem,
    windowStart: seconds - (seconds % 60),
    windowSize: 60,
    hits: 1,
    limit: 1_000_000_000,
    refuses: Refuses.ALWAYS,
    outcome: Outcome.COUNTED,
    after: 1,
  });
  const counted = count();
  const countRequest = { counts: [counted], holdBack: HoldBack.NEVER, now, deadline: 0 };
  const response = handler.decideMessage(bytes, 0, bytes.length, now, 0) as RateLimitResponse;
  const status = newStatus(resolution.currentLimit, 0);
  const out = Buffer.alloc(1024);
  const places = new RequestPlaces();

  const block = headerBlock();
  const perRead = 50;
  const chunk = conversation(bytes, block, perRead);
  const reader = new FrameReader({
    onFrame: (_bytes, _at, next) => next,
    onPreface() {},
    onOversizedFrame() {},
    onBadPreface() {},
  });
  reader.read(Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
  const decoder = new HpackDecoder();
  const readBlock = (each: Buffer) => readHead(decoder.decode(each, 0, each.length, 16_384)!, false);
  // Different literals at each position are not recognised.
  const others = Array.from({ length: 16 }, (_, number) =>
    headerBlock(`${METHOD}${number % 10}`, number > 9),
  );

  const stages: [string, number[]][] = [
    [
      "frames: split a read into the two frames of each call",
      time(() => reader.read(chunk)).map((ns) => ns / perRead),
    ],
    ["header block with the literals of the last one", time(() => readBlock(block))],
    ["header block with other literals", time((call) => readBlock(others[call % others.length]!))],
    ["message: the places of its parts", time(() => places.scan(bytes, 0, bytes.length))],
    ["message, decoded to texts, for JSON and tracing", time(() => decodeRequest(bytes, 0, bytes.length))],
    [
      "match: the rule of a descriptor, in place",
      time(() => ruleSet.inPlace.node(ruleSet.inPlace.domain(places), places, places.descriptors[0]!)),
    ],
    ["match: the rule of a descriptor, from texts", time(() => ruleSet.match("bench", entries))],
    ["key: the counter's key, from texts", time(() => decisionOptions.keyFormat("bench", entries, match, 2))],
    ["count: embedded", time(() => store.count(countRequest))],
    [
      "statistics and status",
      time(() =>
        tally(counted, resolution.statistics!, resolution, resolution.rule!.shadowMode, seconds, status),
      ),
    ],
    [
      "encode",
      time(() => {
        maxResponseSize(response);
        writeResponse(response, out, 0);
      }),
    ],
    ["whole decision", time(() => handler.decideMessage(bytes, 0, bytes.length, now, 0))],
  ];
  const shown = table(
    ["stage", "ns (median, spread)"],
    stages.map(([name, figures]) => [name, spread(figures, 0)]),
  );
  await store.close();

  const server = await startTollgate();
  try {
    const file = framedFile(bytes);
    const shape = { connections: 8, streams: 50, calls: 200_000 };
    h2load(server.pid, server.url, file, shape);
    const whole = Array.from(
      { length: 5 },
      () => h2load(server.pid, server.url, file, shape).cpuMicroseconds,
    );
    const named = ["frames", "header block with the literals", "whole decision", "encode"];
    const inStages = stages
      .filter(([name]) => named.some((start) => name.startsWith(start)))
      .reduce((sum, [, figures]) => sum + median(figures), 0);
    return `${shown}

Total under load: ${spread(whole)} us of CPU per decision, of which ${(inStages / 1000).toFixed(2)} us are in the stages of a repeated call. The rest is sockets, garbage collection and the kernel.`;
  } finally {
    await server.stop();
  }
}
