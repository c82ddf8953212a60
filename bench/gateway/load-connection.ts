import { connect, type Socket } from "node:net";
import { EnvoyHeaders, type Trace } from "./envoy-headers.ts";

const FRAME_HEADER = 9;
const DATA = 0;
const HEADERS = 1;
const SETTINGS = 4;
const PING = 6;
const WINDOW_UPDATE = 8;
const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;
/** Room for one call. */
const CALL_BYTES = 1024;
/** Room for one read. All connections use it in turn. */
const readBuffer = Buffer.allocUnsafe(0x10000);
const nothing = Buffer.alloc(0);

/** The calls of a connection, and the receiver of its events. */
export interface Calls {
  readonly path: string;
  readonly isTraced: boolean;
  readonly messageLength: number;
  /** @param call its number on the connection, from 0 */
  trace(call: number): Trace | undefined;
  write(out: Uint8Array, at: number): void;
  ended(call: number): void;
  /** A read with the ends of so many calls is over. */
  read(calls: number): void;
  failed(error: Error): void;
}

function frame(type: number, flags: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.alloc(FRAME_HEADER + payload.length);
  writeHead(bytes, 0, payload.length, type, flags, 0);
  bytes.set(payload, FRAME_HEADER);
  return bytes;
}

function writeHead(out: Buffer, at: number, length: number, type: number, flags: number, id: number): void {
  out[at] = 0;
  out[at + 1] = length >>> 8;
  out[at + 2] = length;
  out[at + 3] = type;
  out[at + 4] = flags;
  out.writeUInt32BE(id, at + 5);
}

/** A connection of Envoy. Neither a call nor an answer allocates more than the socket does for a write. */
export class LoadConnection {
  readonly #socket: Socket;
  readonly #calls: Calls;
  readonly #headers: EnvoyHeaders;
  #stream = 1;
  /** 1 for a call with a message, by its number. Far fewer calls are in flight. */
  readonly #answered = new Uint8Array(0x10000);
  #rest: Buffer = nothing;

  static open(url: URL, calls: Calls): Promise<LoadConnection> {
    return new Promise((resolve, reject) => {
      const connection = new LoadConnection(url, calls);
      connection.#socket.once("error", reject);
      connection.#socket.once("connect", () => resolve(connection));
    });
  }

  private constructor({ hostname, port }: URL, calls: Calls) {
    this.#calls = calls;
    this.#headers = new EnvoyHeaders(calls.path, calls.isTraced);
    const callback = (length: number): boolean => {
      this.#read(length);
      return true;
    };
    this.#socket = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: { buffer: readBuffer, callback },
    });
    this.#socket.on("error", (error) => calls.failed(error));
    this.#socket.on("close", () => calls.failed(new Error("the server closed a connection")));
    const window = Buffer.alloc(4);
    window.writeUInt32BE(0x3fff_0000);
    this.#socket.write(
      Buffer.concat([
        Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        frame(SETTINGS, 0, nothing),
        frame(WINDOW_UPDATE, 0, window),
      ]),
    );
  }

  /** Sends calls in one write. */
  send(count: number): void {
    const out = Buffer.allocUnsafe(count * CALL_BYTES);
    let at = 0;
    for (let call = 0; call < count; call++) at = this.#writeCall(out, at);
    this.#socket.write(out.subarray(0, at));
  }

  #writeCall(out: Buffer, at: number): number {
    const block = at + FRAME_HEADER;
    const { messageLength } = this.#calls;
    const data = this.#headers.write(out, block, this.#calls.trace(this.#stream >>> 1));
    writeHead(out, at, data - block, HEADERS, END_HEADERS, this.#stream);
    writeHead(out, data, messageLength, DATA, END_STREAM, this.#stream);
    this.#calls.write(out, data + FRAME_HEADER);
    this.#stream += 2;
    return data + FRAME_HEADER + messageLength;
  }

  #read(length: number): void {
    let bytes = readBuffer;
    let end = length;
    if (this.#rest.length > 0) {
      bytes = Buffer.concat([this.#rest, readBuffer.subarray(0, length)]);
      end = bytes.length;
    }
    let at = 0;
    let ended = 0;
    while (end - at >= FRAME_HEADER) {
      const next = at + FRAME_HEADER + bytes.readUIntBE(at, 3);
      if (next > end) break;
      const type = bytes[at + 3]!;
      const flags = bytes[at + 4]!;
      if (type === DATA) this.#answered[(bytes.readUInt32BE(at + 5) >>> 1) & 0xffff] = 1;
      else if (type === HEADERS && flags & END_STREAM) {
        this.#end(bytes.readUInt32BE(at + 5) >>> 1);
        ended++;
      } else if (type === SETTINGS && !(flags & ACK)) this.#socket.write(frame(SETTINGS, ACK, nothing));
      else if (type === PING && !(flags & ACK))
        this.#socket.write(frame(PING, ACK, bytes.subarray(at + FRAME_HEADER, next)));
      at = next;
    }
    this.#rest = at === end ? nothing : Buffer.from(bytes.subarray(at, end));
    if (ended > 0) this.#calls.read(ended);
  }

  #end(call: number): void {
    if (this.#answered[call & 0xffff] === 0) this.#calls.failed(new Error("a call ended without a message"));
    this.#answered[call & 0xffff] = 0;
    this.#calls.ended(call);
  }

  close(): void {
    this.#socket.removeAllListeners("close");
    this.#socket.destroy();
  }
}
