import { GrpcServer } from "../src/index.ts";
import { HpackPeer } from "../test/support/hpack.ts";
import { frame, parseFrames, preface, type, uint32 } from "../test/support/raw-client.ts";
import { fakeSocket } from "./fake-socket.ts";

/** The result of one conversation, independent of the chunks of its bytes. */
export interface Outcome {
  /** Per stream: its headers and trailers, its data, how it ended. */
  readonly streams: Record<string, string>;
  /** GOAWAY codes. */
  readonly goaways: number[];
  /** Acknowledged SETTINGS and PINGs. */
  readonly acks: number;
  /** Errors in the server, and resources that it still holds at the end. Must be empty. */
  readonly faults: unknown[];
}

/** Time limit for a conversation, in milliseconds. */
const PATIENCE_MS = 5000;

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A server with all kinds of responses, and a connection to it over a fake socket. */
function stage(faults: unknown[]) {
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
    })
    .unary("/t.T/Later", async (message) => {
      await turn();
      return message;
    })
    // Reserves at once, writes when others have written, and says how much it was later still.
    .unaryInPlace("/t.T/LaterInPlace", (call) => {
      const message = Buffer.from(call.buffer.subarray(call.start, call.end));
      const out = call.reserve(message.length);
      const { offset } = call;
      queueMicrotask(() => out.set(message, offset));
      setImmediate(() => call.commit(message.length));
    })
    .serverStreaming("/t.T/Twice", async (message, call) => {
      await call.write(message);
      await turn();
      await call.write(message);
    })
    .bidiStreaming("/t.T/Each", async function* (messages) {
      for await (const message of messages) yield message;
    });
  const { fake, socket } = fakeSocket();
  server.serve(socket);
  return { server, fake };
}

function chunksOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let from = 0;
  for (const cut of [...cuts.filter((each) => each < bytes.length).sort((a, b) => a - b), bytes.length]) {
    // A fresh buffer per chunk, as sockets give them.
    if (cut > from) chunks.push(Buffer.from(bytes.subarray(from, cut)));
    from = cut;
  }
  return chunks;
}

/** Adds a fault if the server holds resources without a connection. */
function checkCounts(server: GrpcServer, faults: unknown[]): void {
  const { connections, activeCalls, bufferedBytes, queuedBytes } = server.counts();
  if (connections + activeCalls + bufferedBytes + queuedBytes !== 0) faults.push(server.counts());
}

/** Plays `bytes` in chunks that end at `cuts`, without a pause. Throws if that takes too long. */
export function play(bytes: Buffer, cuts: readonly number[]): Outcome {
  const faults: unknown[] = [];
  const { server, fake } = stage(faults);
  const started = performance.now();
  for (const chunk of chunksOf(bytes, cuts)) fake.emit("data", chunk);
  if (performance.now() - started > PATIENCE_MS) throw new Error("the conversation took too long");
  fake.destroy();
  checkCounts(server, faults);
  void server.close();
  return summarize(Buffer.concat(fake.written), faults);
}

/** The order and the speed in which a peer reads. */
export interface Manner {
  /** Turns of the event loop that each chunk is given. */
  readonly turns: number;
  /** The socket takes bytes once a turn only, and not at once. */
  readonly slow: boolean;
  /** The increment of all windows in each turn after the last byte; 0 for none. */
  readonly grant: number;
}

/** The streams of a legal conversation. */
function openedIn(bytes: Buffer): Set<number> {
  const { frames } = parseFrames(bytes.subarray(preface.length));
  return new Set(frames.filter((each) => each.type === type.headers).map(({ id }) => id));
}

/** Plays `bytes` with pauses, then waits until every call has ended. Throws if that takes too long. */
export async function playLater(
  bytes: Buffer,
  cuts: readonly number[],
  { turns, slow, grant }: Manner,
): Promise<Outcome> {
  const faults: unknown[] = [];
  const { server, fake } = stage(faults);
  const started = performance.now();
  fake.takes = !slow;
  for (const chunk of chunksOf(bytes, cuts)) {
    fake.emit("data", chunk);
    for (let index = 0; index < turns; index++) await turn();
    if (slow) fake.drain();
  }
  /** The connection, and all streams that were opened. */
  const ids = [0, ...openedIn(bytes)];
  let quiet = 0;
  for (let said = -1; quiet < 4; ) {
    if (performance.now() - started > PATIENCE_MS) throw new Error("the conversation took too long");
    const { activeCalls, queuedBytes, bufferedBytes } = server.counts();
    const isBusy =
      said !== fake.written.length || (grant > 0 && activeCalls + queuedBytes + bufferedBytes > 0);
    quiet = isBusy ? 0 : quiet + 1;
    said = fake.written.length;
    if (grant > 0 && queuedBytes > 0 && !fake.destroyed) {
      const updates = ids.map((id) => frame(type.windowUpdate, 0, id, uint32(grant)));
      fake.emit("data", Buffer.concat(updates));
    }
    if (slow) fake.drain();
    await turn();
  }
  fake.destroy();
  // Handlers of cancelled calls continue for a moment. The server releases their bytes at once.
  checkCounts(server, faults);
  for (let index = 0; index < 3; index++) await turn();
  await server.close();
  return summarize(Buffer.concat(fake.written), faults);
}

function summarize(output: Buffer, faults: unknown[]): Outcome {
  const { frames, rest } = parseFrames(output);
  if (rest.length > 0 && !rest.toString("latin1").startsWith("HTTP/1.1"))
    throw new Error("half a frame was written");
  const decoder = new HpackPeer();
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
