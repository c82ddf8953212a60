/** Arbitrary legal conversations: calls of every shape, their frames interleaved, control frames in between. */
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { HpackPeer } from "../test/support/hpack.ts";
import {
  callFields,
  type Fields,
  frame,
  message,
  parseFrames,
  preface,
  settings,
  type,
  uint32,
} from "../test/support/raw-client.ts";

const BIG_WINDOW = 0x7ff00000;
const printable = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  maxLength: 60,
});

interface CallShape {
  readonly path: string;
  readonly size: number;
  readonly fill: number;
  readonly gzip: boolean;
  readonly more: Fields;
  /** The positions where its DATA is split into frames, as fractions of the whole. */
  readonly cuts: readonly number[];
  readonly padding: number;
  readonly priority: boolean;
  /** CONTINUATION frames its header block is cut into. */
  readonly continuations: number;
  readonly ending: "with data" | "empty data" | "trailers";
  readonly contentLength: boolean;
}

/** Methods that respond during the read of the request's end, and methods that respond later. */
const AT_ONCE = ["/t.T/InPlace", "/t.T/InPlace", "/t.T/Simple", "/t.T/Unknown"];
const LATER = ["/t.T/Later", "/t.T/LaterInPlace", "/t.T/Each", "/t.T/Twice"];

const shapesOf = (paths: readonly string[]): fc.Arbitrary<CallShape> =>
  fc.record({
    path: fc.constantFrom(...paths),
    size: fc.oneof(fc.nat(20), fc.nat(20), fc.nat(2000), fc.nat(50_000)),
    fill: fc.nat(255),
    gzip: fc.boolean(),
    more: fc.array(fc.tuple(fc.constantFrom("x-tag", "x-trace", "user-agent"), printable), {
      maxLength: 3,
    }) as fc.Arbitrary<Fields>,
    cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 }),
    padding: fc.oneof(fc.constant(0), fc.nat(255)),
    priority: fc.boolean(),
    continuations: fc.nat(3),
    ending: fc.constantFrom("with data", "empty data", "trailers"),
    contentLength: fc.boolean(),
  });

const controls = fc.oneof(
  fc.constant(settings([4, 1_000_000])),
  fc.constant(frame(type.ping, 0, 0, Buffer.from("12345678"))),
  fc.constant(frame(type.priority, 0, 99_999, Buffer.from("0000000010", "hex"))),
  fc.constant(frame(type.windowUpdate, 0, 0, uint32(1))),
  fc.nat(300).map((size) => frame(0xbb, 0xff, 7, Buffer.alloc(size))),
);

function padded(kind: number, flags: number, id: number, payload: Buffer, padding: number): Buffer {
  if (padding === 0) return frame(kind, flags, id, payload);
  return frame(
    kind,
    flags | 0x8,
    id,
    Buffer.concat([Buffer.from([padding]), payload, Buffer.alloc(padding)]),
  );
}

/** HEADERS and its CONTINUATION: they may not be parted, and come in the order of the encoder's table. */
function headerFrames(shape: CallShape, id: number, encoder: HpackPeer, bodyLength: number): Buffer {
  const fields: Fields = [...shape.more];
  if (shape.gzip) fields.push(["grpc-encoding", "gzip"]);
  if (shape.contentLength) fields.push(["content-length", String(bodyLength)]);
  const block = encoder.encode(
    callFields(
      shape.path,
      fields.filter(([, value]) => value !== ""),
    ),
  );
  const step = Math.ceil(block.length / (shape.continuations + 1));
  const first = block.subarray(0, step);
  const priority = shape.priority ? Buffer.from("0000000010", "hex") : Buffer.alloc(0);
  const ends = step >= block.length ? 0x4 : 0;
  const flags = ends | (shape.priority ? 0x20 : 0);
  const frames = [padded(type.headers, flags, id, Buffer.concat([priority, first]), shape.padding)];
  for (let at = step; at < block.length; at += step)
    frames.push(
      frame(type.continuation, at + step >= block.length ? 0x4 : 0, id, block.subarray(at, at + step)),
    );
  return Buffer.concat(frames);
}

/** A call's frames after its headers, in order. The trailers go through the encoder when they are sent. */
function bodyFrames(
  shape: CallShape,
  id: number,
  encoder: HpackPeer,
): { length: number; frames: (() => Buffer)[] } {
  const content = Buffer.alloc(shape.size, shape.fill);
  const bytes = shape.gzip ? message(gzipSync(content), 1) : message(content);
  const inner = shape.cuts.map((share) => Math.floor(share * bytes.length));
  const steps: number[] = [];
  for (let at = 16_000; at < bytes.length; at += 16_000) steps.push(at);
  const ends = [...new Set([...inner, ...steps, bytes.length])].filter((at) => at > 0).sort((a, b) => a - b);
  const frames = ends.map((end, index) => () => {
    const isLast = index === ends.length - 1 && shape.ending === "with data";
    const part = bytes.subarray(ends[index - 1] ?? 0, end);
    return padded(type.data, isLast ? 1 : 0, id, part, shape.padding);
  });
  if (shape.ending === "empty data") frames.push(() => frame(type.data, 1, id));
  if (shape.ending === "trailers")
    frames.push(() => frame(type.headers, 5, id, encoder.encode([["x-end", "1"]])));
  return { length: bytes.length, frames };
}

const conversationsOf = (paths: readonly string[]): fc.Arbitrary<Buffer> =>
  fc
    .record({
      shapes: fc.array(shapesOf(paths), { minLength: 1, maxLength: 8 }),
      order: fc.array(fc.nat(100), { minLength: 60, maxLength: 60 }),
      controls: fc.array(controls, { maxLength: 6 }),
    })
    .map(({ shapes: calls, order, controls: between }) => {
      const encoder = new HpackPeer();
      const parts: Buffer[] = [
        preface,
        settings([4, 0x7fffffff]),
        frame(type.windowUpdate, 0, 0, uint32(BIG_WINDOW)),
      ];
      const waiting = calls.map((shape, index) => ({ shape, id: index * 2 + 1 }));
      const open: (() => Buffer)[][] = [];
      const extra = [...between];
      for (let step = 0; waiting.length > 0 || open.length > 0; step++) {
        const choice = order[step % order.length]!;
        if (extra.length > 0 && choice % 7 === 0) parts.push(extra.pop()!);
        if (waiting.length > 0 && (open.length === 0 || choice % 3 === 0)) {
          const { shape, id } = waiting.shift()!;
          const { length, frames } = bodyFrames(shape, id, encoder);
          parts.push(headerFrames(shape, id, encoder, length));
          open.push(frames);
        } else {
          const index = choice % open.length;
          parts.push(open[index]!.shift()!());
          if (open[index]!.length === 0) open.splice(index, 1);
        }
      }
      return Buffer.concat(parts);
    });

/** The bytes of a valid conversation. The server responds to all its calls at once. */
export const conversations = conversationsOf(AT_ONCE);

/** The bytes of a valid conversation with later and streaming responses. */
export const laterConversations = conversationsOf([...AT_ONCE, ...LATER]);

/** The conversation with windows of `bytes` for each stream, and the protocol's own for the connection. */
export function withTightWindows(conversation: Buffer, bytes: number): Buffer {
  const tight = Buffer.from(conversation);
  // The first frames: SETTINGS with one value, then the connection's WINDOW_UPDATE.
  tight.writeUInt32BE(bytes, preface.length + 11);
  tight.writeUInt32BE(1, preface.length + 15 + 9);
  return tight;
}

const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const octet = fc.nat(255);

/** A change to one frame of a list, at a place given as a share of the whole. */
const frameChanges: fc.Arbitrary<(frames: Buffer[]) => void> = fc
  .tuple(
    fc.constantFrom("payload", "flags", "type", "id", "drop", "double", "swap", "shorten", "bytes"),
    share,
    share,
    octet,
  )
  .map(([kind, where, inner, value]) => (frames) => {
    const index = Math.floor(where * frames.length);
    const chosen = frames[index];
    if (chosen === undefined) return;
    const at = 9 + Math.floor(inner * (chosen.length - 9));
    switch (kind) {
      case "payload":
        if (at < chosen.length) chosen[at]! ^= value;
        break;
      case "flags":
        chosen[4] = value;
        break;
      case "type":
        chosen[3] = value % 12;
        break;
      case "id":
        chosen[8] = value;
        break;
      case "drop":
        frames.splice(index, 1);
        break;
      case "double":
        frames.splice(index, 0, Buffer.from(chosen));
        break;
      case "swap":
        frames.push(...frames.splice(index, 1));
        break;
      case "shorten":
        frames[index] = Buffer.from(chosen.subarray(0, at));
        frames[index].writeUIntBE(at - 9, 0, 3);
        break;
      case "bytes":
        // Only this change breaks the framing: the server misreads all following bytes.
        frames[index] = Buffer.from(chosen.subarray(0, at));
        break;
    }
  });

const mutated = (legal: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> =>
  fc.tuple(legal, fc.array(frameChanges, { minLength: 1, maxLength: 4 })).map(([bytes, changes]) => {
    const { frames } = parseFrames(bytes.subarray(preface.length));
    const [first, ...others] = frames.map(({ type: kind, flags, id, payload }) =>
      frame(kind, flags, id, payload),
    );
    for (const change of changes) change(others);
    return Buffer.concat([preface, first!, ...others]);
  });

/** Stream windows, from less than a message's prefix to more than most responses. */
export const windows = fc.oneof(fc.nat(6), fc.nat(300), fc.nat(70_000));

/** Legal conversations, some of whose frames are changed, dropped, doubled, moved or cut. */
export const mutatedConversations = mutated(conversations);
export const mutatedLaterConversations = mutated(
  fc.tuple(laterConversations, windows).map(([bytes, window]) => withTightWindows(bytes, window)),
);

const frameHeads = fc
  .tuple(fc.nat(10), fc.nat(255), fc.oneof(fc.nat(6), fc.nat(0x7fffffff)), fc.uint8Array({ maxLength: 64 }))
  .map(([kind, flags, id, payload]) => frame(kind, flags, id, payload));

/** Bytes that were never a conversation: random ones, and random frames after a good start. */
export const rubbish: fc.Arbitrary<Buffer> = fc.oneof(
  fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
  fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.concat([preface, settings(), bytes])),
  fc.array(frameHeads, { maxLength: 30 }).map((frames) => Buffer.concat([preface, settings(), ...frames])),
);

/** The positions where a conversation is split: a few, many, or each byte of its beginning. */
export const cuttings: fc.Arbitrary<number[]> = fc.oneof(
  fc.constant<number[]>([]),
  fc.array(fc.nat(60_000), { maxLength: 20 }),
  fc.array(fc.nat(2000), { maxLength: 200 }),
  fc.constant(Array.from({ length: 3000 }, (_, index) => index + 1)),
);
