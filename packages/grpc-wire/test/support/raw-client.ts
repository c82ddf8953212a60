/** An HTTP/2 client that sends any frames, valid or not, and keeps every frame that it gets. */
import { once } from "node:events";
import { connect, type NetConnectOpts, type Socket } from "node:net";
import { HpackPeer } from "./hpack.ts";

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly payload: Buffer;
}

export const type = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export function frame(
  kind: number,
  flags: number,
  id: number,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = kind;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, payload]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function settings(...values: [id: number, value: number][]): Buffer {
  const payload = values.map(([id, value]) => Buffer.concat([Buffer.from([0, id]), uint32(value)]));
  return frame(type.settings, 0, 0, Buffer.concat(payload));
}

export const settingsAck = frame(type.settings, 1, 0);

/** A gRPC message with its prefix. */
export function message(content: string | Uint8Array, flag = 0): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([Buffer.from([flag]), uint32(bytes.length), bytes]);
}

export type Fields = [name: string, value: string][];

export function callFields(path: string, more: Fields = []): Fields {
  return [
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    [":authority", "localhost"],
    ["content-type", "application/grpc"],
    ["te", "trailers"],
    ...more,
  ];
}

/** Cuts bytes into frames; what is left of an unfinished one comes back too. */
export function parseFrames(bytes: Buffer): { frames: Frame[]; rest: Buffer } {
  const frames: Frame[] = [];
  let at = 0;
  while (bytes.length - at >= 9) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    if (end > bytes.length) break;
    frames.push({
      type: bytes[at + 3]!,
      flags: bytes[at + 4]!,
      id: bytes.readUInt32BE(at + 5),
      payload: bytes.subarray(at + 9, end),
    });
    at = end;
  }
  return { frames, rest: bytes.subarray(at) };
}

/** The response on one stream. */
export interface Answer {
  /** Headers and trailers together, the later winning. */
  readonly fields: Map<string, string>;
  readonly messages: Buffer[];
  readonly reset: number | undefined;
}

export class RawClient {
  readonly socket: Socket;
  readonly frames: Frame[] = [];
  readonly #encoder = new HpackPeer();
  readonly #decoder = new HpackPeer();
  readonly #fields = new Map<number, Map<string, string>>();
  #rest: Buffer = Buffer.alloc(0);
  #closed = false;
  #waiting: { done: () => boolean; resolve: () => void }[] = [];

  constructor(where: NetConnectOpts) {
    this.socket = connect(where);
    // Two small writes in a row would otherwise wait 40 ms for an acknowledgement.
    this.socket.setNoDelay(true);
    this.socket.on("data", (chunk: Buffer) => this.#onData(chunk));
    this.socket.on("error", () => {});
    this.socket.on("close", () => {
      this.#closed = true;
      this.#wake();
    });
  }

  /** Connected, with the preface and these SETTINGS sent. */
  static async open(where: NetConnectOpts, first: Buffer = settings()): Promise<RawClient> {
    const client = new RawClient(where);
    await once(client.socket, "connect");
    client.send(preface, first);
    return client;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  send(...parts: Uint8Array[]): boolean {
    return this.socket.write(Buffer.concat(parts));
  }

  /** HEADERS for a call; the block goes through this client's dynamic table. */
  headers(id: number, fields: Fields, flags = 0x4): Buffer {
    return frame(type.headers, flags, id, this.#encoder.encode(fields));
  }

  /** A whole unary call. */
  call(id: number, path: string, content: string | Uint8Array = "", more: Fields = []): Buffer {
    return Buffer.concat([
      this.headers(id, callFields(path, more)),
      frame(type.data, 0x1, id, message(content)),
    ]);
  }

  /** Resolves when `done` holds, or when the connection is closed. */
  until(done: () => boolean): Promise<void> {
    if (done() || this.#closed) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ done, resolve }));
  }

  async closed(): Promise<void> {
    await this.until(() => this.#closed);
  }

  /** The first frame of that kind, once it is there. */
  async frame(kind: number, id?: number): Promise<Frame> {
    const find = () => this.frames.find((each) => each.type === kind && (id === undefined || each.id === id));
    await this.until(() => find() !== undefined);
    const found = find();
    if (found === undefined) throw new Error(`the connection closed without a frame of type ${kind}`);
    return found;
  }

  /** The answer on a stream, once it has ended or was reset. */
  async answer(id: number): Promise<Answer> {
    const isEnd = (each: Frame) =>
      each.id === id && (each.type === type.reset || (each.type <= 1 && (each.flags & 1) === 1));
    await this.until(() => this.frames.some(isEnd));
    if (!this.frames.some(isEnd)) throw new Error(`the connection closed before stream ${id} ended`);
    return this.answerSoFar(id);
  }

  answerSoFar(id: number): Answer {
    const own = this.frames.filter((each) => each.id === id);
    let body = Buffer.concat(own.filter((each) => each.type === type.data).map(({ payload }) => payload));
    const messages: Buffer[] = [];
    while (body.length >= 5 && body.length >= 5 + body.readUInt32BE(1)) {
      messages.push(body.subarray(5, 5 + body.readUInt32BE(1)));
      body = body.subarray(5 + body.readUInt32BE(1));
    }
    const reset = own.find((each) => each.type === type.reset)?.payload.readUInt32BE();
    return { fields: this.#fields.get(id) ?? new Map(), messages, reset };
  }

  /** Bytes of DATA on a stream so far. */
  answerBytes(id: number): number {
    const own = this.frames.filter((each) => each.type === type.data && each.id === id);
    return own.reduce((sum, { payload }) => sum + payload.length, 0);
  }

  /** The error code and text of the last GOAWAY. */
  async goaway(): Promise<{ lastId: number; code: number; text: string }> {
    await this.frame(type.goaway);
    const { payload } = this.frames.findLast((each) => each.type === type.goaway)!;
    return {
      lastId: payload.readUInt32BE(),
      code: payload.readUInt32BE(4),
      text: payload.toString("utf8", 8),
    };
  }

  close(): void {
    this.socket.destroy();
  }

  #onData(chunk: Buffer): void {
    const { frames, rest } = parseFrames(Buffer.concat([this.#rest, chunk]));
    this.#rest = rest;
    for (const each of frames) {
      this.frames.push(each);
      if (each.type !== type.headers) continue;
      const known = this.#fields.get(each.id) ?? new Map<string, string>();
      for (const [name, value] of this.#decoder.decode(each.payload)) known.set(name, value);
      this.#fields.set(each.id, known);
    }
    this.#wake();
  }

  #wake(): void {
    this.#waiting = this.#waiting.filter(({ done, resolve }) => {
      if (!done() && !this.#closed) return true;
      resolve();
      return false;
    });
  }
}
