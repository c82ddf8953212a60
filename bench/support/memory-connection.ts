/** A connection of Envoy to a server in the same process: the whole path of a call without the kernel. */
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import type { GrpcServer } from "@tollway/grpc-wire";
import { EnvoyHeaders, type Trace } from "../gateway/envoy-headers.ts";

/** Room for one call with a message of one or two descriptors. */
export const CALL_BYTES = 512;

const FRAME_HEADER = 9;
const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
/** The largest window: the client reads everything. */
const window = [0, 0, 4, 8, 0, 0, 0, 0, 0, 0x3f, 0xff, 0, 0];

/** Replaces a socket: `data` events pass bytes to the server. */
export class MemoryConnection extends EventEmitter {
  readonly writable = true;
  readonly writableLength = 0;
  readonly remoteAddress = "127.0.0.1";
  readonly #written: (chunk: Uint8Array) => void;
  readonly #headers: EnvoyHeaders;
  #stream = 1;

  /** @param written receives what the server writes. The server reuses the chunk. */
  constructor(server: GrpcServer, path: string, isTraced: boolean, written: (chunk: Uint8Array) => void) {
    super();
    this.#written = written;
    this.#headers = new EnvoyHeaders(path, isTraced);
    server.serve(this as unknown as Socket);
    this.emit("data", Buffer.concat([preface, Buffer.from([...settings, ...window])]));
  }

  /**
   * Writes the frames of the next call, up to its message.
   * @param length of the message with its five bytes of gRPC
   * @returns the position of the message, which the caller writes
   */
  begin(out: Buffer, at: number, length: number, trace?: Trace): number {
    const data = this.#headers.write(out, at + FRAME_HEADER, trace);
    this.#head(out, at, data - at - FRAME_HEADER, 1, 4);
    this.#head(out, data, length, 0, 1);
    this.#stream += 2;
    return data + FRAME_HEADER;
  }

  /** The number of calls so far. */
  get calls(): number {
    return this.#stream >>> 1;
  }

  #head(out: Buffer, at: number, length: number, type: number, flags: number): void {
    out.writeUIntBE(length, at, 3);
    out[at + 3] = type;
    out[at + 4] = flags;
    out.writeUInt32BE(this.#stream, at + 5);
  }

  write(chunk: Uint8Array): boolean {
    this.#written(chunk);
    return true;
  }
  setNoDelay(): void {}
  pause(): void {}
  resume(): void {}
  end(): void {}
  destroy(): void {}
}
