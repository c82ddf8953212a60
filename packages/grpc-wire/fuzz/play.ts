import HPACK from "hpack";
import { GrpcServer } from "../src/index.ts";
import { parseFrames } from "../test/support/raw-client.ts";
import { fakeSocket } from "./fake-socket.ts";

/** What one conversation came to, in a form that does not depend on how its bytes were cut. */
export interface Outcome {
  /** Per stream: its headers and trailers, its data, how it ended. */
  readonly streams: Record<string, string>;
  /** GOAWAY codes. */
  readonly goaways: number[];
  /** Acknowledged SETTINGS and PINGs. */
  readonly acks: number;
  /** What went wrong inside: must stay empty. */
  readonly faults: unknown[];
}

/** Longest that a conversation may take, in milliseconds: beyond it something hangs. */
const PATIENCE_MS = 5000;

/** Plays `bytes`, cut at `cuts`, to a server whose methods all answer at once. Throws where it takes too long. */
export function play(bytes: Buffer, cuts: readonly number[]): Outcome {
  const faults: unknown[] = [];
  const server = new GrpcServer({
    limits: { maxRequestBytes: 60_000 },
    connection: { maxPingStrikes: 1000 },
    onHandlerError: (error) => faults.push(error),
  })
    .unaryInPlace("/t.T/InPlace", (call) => {
      const length = call.end - call.start;
      call.reserve(length).set(call.buffer.subarray(call.start, call.end), call.offset);
      call.commit(length);
    })
    .unary("/t.T/Simple", (message, call) => {
      const tag = call.metadata("x-tag");
      if (tag !== undefined) call.setTrailingMetadata("x-tag", tag.replace(/[^!-~]/g, "?"));
      return message;
    });
  const { fake, socket } = fakeSocket();
  server.serve(socket);
  const started = performance.now();
  let from = 0;
  for (const cut of [...cuts.filter((each) => each < bytes.length).sort((a, b) => a - b), bytes.length]) {
    // A fresh buffer per chunk, as sockets give them.
    if (cut > from) fake.emit("data", Buffer.from(bytes.subarray(from, cut)));
    from = cut;
  }
  if (performance.now() - started > PATIENCE_MS) throw new Error("the conversation took too long");
  fake.destroy();
  void server.close();
  return summarize(Buffer.concat(fake.written), faults);
}

function summarize(output: Buffer, faults: unknown[]): Outcome {
  const { frames, rest } = parseFrames(output);
  if (rest.length > 0 && !rest.toString("latin1").startsWith("HTTP/1.1"))
    throw new Error("half a frame was written");
  const decoder = new HPACK();
  const streams: Record<string, string> = {};
  const goaways: number[] = [];
  let acks = 0;
  for (const { type, flags, id, payload } of frames) {
    if (type === 7) goaways.push(payload.readUInt32BE(4));
    if ((type === 4 || type === 6) && flags & 1) acks += 1;
    if (id === 0 || type === 8) continue;
    const text =
      type === 1
        ? JSON.stringify(decoder.decode(payload))
        : type === 0
          ? payload.toString("hex")
          : `<${type} ${payload.toString("hex")}>`;
    streams[id] = (streams[id] ?? "") + text + (type <= 1 && flags & 1 ? "." : "");
  }
  return { streams, goaways, acks, faults };
}
