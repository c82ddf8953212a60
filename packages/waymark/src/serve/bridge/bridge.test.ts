import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { Application, Controller } from "@tollway/waymark";
import fc from "fast-check";
import { scaled } from "../../../../../tools/time-scale.ts";
import { temporaryFolder } from "../../../test/support/packed.ts";
import { BridgeConnection } from "./connection.ts";
import { BODY, CREDIT, LAST, LEFT, REQUEST, WINDOW } from "./frames.ts";

let sent = 0;
let ended = 0;

class Default extends Controller {
  GET(id: number) {
    return { id };
  }
  async POST() {
    return (await this.bytes()).length;
  }
  async *PUT() {
    try {
      for (;;) {
        sent += 10_000;
        yield new Uint8Array(10_000);
      }
    } finally {
      ended++;
    }
  }
}

const application = new Application({ controllers: { Default } });
const path = join(temporaryFolder("bridge"), "socket");
const server = createServer((socket) => void new BridgeConnection(application, socket));
server.listen(path);
after(() => server.close());

interface Frame {
  readonly kind: number;
  readonly exchange: number;
  readonly payload: Buffer;
}

/** The Python side of one socket pair. */
class Peer {
  readonly socket: Socket;
  readonly frames: Frame[] = [];
  #rest: Buffer = Buffer.alloc(0);
  #wake: () => void = () => undefined;

  constructor() {
    this.socket = connect(path);
    this.socket.on("data", (bytes: Buffer) => this.#read(bytes));
  }

  async until(found: (frames: readonly Frame[]) => boolean): Promise<void> {
    while (!found(this.frames))
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  #read(bytes: Buffer): void {
    let all = Buffer.concat([this.#rest, bytes]);
    while (all.length >= 9 && all.length >= 9 + all.readUInt32BE(0)) {
      const end = 9 + all.readUInt32BE(0);
      this.frames.push({ kind: all[4]!, exchange: all.readUInt32BE(5), payload: all.subarray(9, end) });
      all = all.subarray(end);
    }
    this.#rest = all;
    this.#wake();
  }
}

function frame(kind: number, exchange: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9);
  head.writeUInt32BE(payload.length, 0);
  head[4] = kind;
  head.writeUInt32BE(exchange, 5);
  return Buffer.concat([head, payload]);
}

function request(exchange: number, method: string, target: string, body = "", flags = LAST): Buffer {
  const head = Buffer.from([method, "http", "127.0.0.1", "host", "x"].join("\0"));
  const parts = Buffer.alloc(21);
  parts[0] = flags;
  parts.writeUInt32BE(head.length, 1);
  parts.writeUInt32BE(target.length, 9);
  const payload = Buffer.concat([parts, head, Buffer.from(target), Buffer.from(body)]);
  return frame(REQUEST, exchange, payload);
}

function size(bytes: number) {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(bytes);
  return payload;
}

test("frames may arrive in any pieces, and each exchange gets its own answer", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ id: fc.nat(9999), size: fc.option(fc.nat(300)) }), {
        minLength: 1,
        maxLength: 12,
      }),
      fc.array(fc.integer({ min: 1, max: 80 }), { minLength: 1, maxLength: 30 }),
      async (exchanges, cuts) => {
        const peer = new Peer();
        const bytes = Buffer.concat(
          exchanges.flatMap(({ id, size: length }, at) =>
            length === null
              ? [request(at + 1, "GET", `/${id}`)]
              : [
                  request(at + 1, "POST", "/", "", 0),
                  frame(BODY, at + 1, Buffer.alloc(length + 1)),
                  frame(BODY, at + 1, Buffer.from([LAST])),
                ],
          ),
        );
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const cut = cuts[turn % cuts.length]!;
          peer.socket.write(bytes.subarray(at, at + cut));
          at += cut;
        }
        await peer.until((frames) => frames.filter(({ kind }) => kind === 5).length === exchanges.length);
        for (const [at, { id, size: length }] of exchanges.entries()) {
          const answer = peer.frames.find(({ exchange, kind }) => exchange === at + 1 && kind === 5)!;
          const body = answer.payload.subarray(7 + answer.payload.readUInt32BE(3)).toString();
          assert.deepEqual(JSON.parse(body), length === null ? { id } : length);
        }
        peer.socket.destroy();
      },
    ),
    { numRuns: 30 },
  );
});

test("an answer is produced no further than its window, and LEFT ends it", async () => {
  sent = 0;
  ended = 0;
  const peer = new Peer();
  const received = () =>
    peer.frames.reduce((sum, { kind, payload }) => sum + (kind === 6 ? payload.length - 1 : 0), 0);
  peer.socket.write(request(1, "PUT", "/"));
  await peer.until(() => received() >= WINDOW);
  // The answer to a later request proves that nothing else was waiting to be written.
  peer.socket.write(request(2, "GET", "/1"));
  await peer.until((frames) => frames.some(({ exchange }) => exchange === 2));
  assert.ok(sent <= WINDOW + 20_000, `${sent} bytes for a window of ${WINDOW}`);
  peer.socket.write(frame(CREDIT, 1, size(100_000)));
  await peer.until(() => received() >= WINDOW + 100_000);
  peer.socket.write(Buffer.concat([frame(LEFT, 1, Buffer.alloc(0)), request(3, "GET", "/1")]));
  await peer.until((frames) => frames.some(({ exchange }) => exchange === 3));
  await new Promise(setImmediate);
  assert.equal(ended, 1);
  peer.socket.destroy();
});

test("a closed connection ends all its exchanges", async () => {
  ended = 0;
  const peer = new Peer();
  for (let exchange = 1; exchange <= 5; exchange++) peer.socket.write(request(exchange, "PUT", "/"));
  await peer.until((frames) => new Set(frames.map(({ exchange }) => exchange)).size === 5);
  peer.socket.destroy();
  const deadline = Date.now() + scaled(5_000);
  while (ended < 5) {
    assert.ok(Date.now() < deadline, `${ended} of 5 ended`);
    await new Promise(setImmediate);
  }
});

test("an invalid frame closes only its own connection", async (t) => {
  const logged = t.mock.method(console, "error", () => undefined);
  const short = request(1, "GET", "/1");
  short.writeUInt32BE(5_000, 18);
  const rows = [Buffer.alloc(64, 0xff), frame(REQUEST, 1, Buffer.alloc(3)), short];
  for (const bytes of rows) {
    const peer = new Peer();
    peer.socket.write(bytes);
    await once(peer.socket, "close");
  }
  assert.equal(logged.mock.callCount(), rows.length);
  // Frames for a finished or unknown exchange are not an error: answers and LEFT frames cross.
  const peer = new Peer();
  for (const kind of [BODY, LEFT, CREDIT]) peer.socket.write(frame(kind, 77, size(1)));
  peer.socket.write(request(1, "GET", "/12"));
  await peer.until((frames) => frames.length > 0);
  assert.match(peer.frames[0]!.payload.toString(), /\{"id":12\}$/);
  peer.socket.destroy();
});
