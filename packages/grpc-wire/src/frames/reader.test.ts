import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { PREFACE } from "./constants.ts";
import { FrameReader, type FrameSink, type ReaderEvents } from "./reader.ts";
import { frame } from "./write.ts";

class Recorder implements FrameSink, ReaderEvents {
  readonly seen: string[] = [];
  onFrame(bytes: Buffer, at: number, next: number): number {
    this.seen.push(bytes.toString("hex", at, next));
    return next;
  }
  onPreface(): void {}
  onOversizedFrame(length: number): void {
    this.seen.push(`oversized ${length}`);
  }
  onBadPreface(): void {
    this.seen.push("bad preface");
  }
}

function readAll(bytes: Buffer, cuts: readonly number[]): string[] {
  const sink = new Recorder();
  const reader = new FrameReader(sink, sink);
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    reader.read(bytes.subarray(from, cut));
    from = cut;
  }
  reader.read(bytes.subarray(from));
  return sink.seen;
}

test("reads the same frames regardless of the chunks", () => {
  const frames = fc.array(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.uint8Array({ maxLength: 300 })), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(frames, fc.array(fc.nat(2500), { maxLength: 30 }), (list, cuts) => {
      const whole = list.map(([type, payload]) => Buffer.from(frame(type, 0, 1, payload)));
      const bytes = Buffer.concat([PREFACE, ...whole]);
      const within = cuts.filter((cut) => cut <= bytes.length);
      assert.deepEqual(
        readAll(bytes, within),
        whole.map((each) => each.toString("hex")),
      );
    }),
    { numRuns: 300 },
  );
});

test("reads frames that arrive byte by byte", () => {
  const whole = [
    Buffer.from(frame(4, 0, 0, Buffer.alloc(0))),
    Buffer.from(frame(0, 1, 1, Buffer.alloc(500, 1))),
  ];
  const bytes = Buffer.concat([PREFACE, ...whole]);
  assert.deepEqual(
    readAll(bytes, [...bytes.keys()]),
    whole.map((each) => each.toString("hex")),
  );
});

const ends: [what: string, bytes: Buffer, seen: string[]][] = [
  ["a wrong preface", Buffer.from("GET / HTTP/1.1\r\n\r\n"), ["bad preface"]],
  ["a preface wrong in its last byte", Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\rX"), ["bad preface"]],
  [
    "a frame longer than allowed",
    Buffer.concat([PREFACE, Buffer.from("004001000000000001", "hex")]),
    ["oversized 16385"],
  ],
];
for (const [what, bytes, seen] of ends) {
  test(`stops at ${what}, regardless of the chunks`, () => {
    const more = Buffer.concat([bytes, frame(4, 0, 0, Buffer.alloc(0))]);
    for (let cut = 0; cut <= more.length; cut++) assert.deepEqual(readAll(more, [cut]), seen);
  });
}

test("the buffer grows with the received bytes, not with the announced length", () => {
  const sink = new Recorder();
  const reader = new FrameReader(sink, sink);
  reader.read(PREFACE);
  assert.equal(reader.isMidFrame, false);
  reader.read(Buffer.from("004000000000000001aa", "hex"));
  assert.equal(reader.isMidFrame, true);
});
