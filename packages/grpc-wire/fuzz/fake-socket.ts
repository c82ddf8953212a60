import { EventEmitter } from "node:events";
import type { Socket } from "node:net";

/** The part of a socket that a connection uses. Records the written bytes. Needs no network and no time. */
class FakeSocket extends EventEmitter {
  readonly written: Buffer[] = [];
  readonly remoteAddress = "127.0.0.1";
  readonly remotePort = 1;
  readonly remoteFamily = "IPv4";
  /** Written bytes that were not taken. */
  writableLength = 0;
  /** Whether written bytes are taken at once. */
  takes = true;
  writable = true;
  destroyed = false;
  write(bytes: Buffer): boolean {
    this.written.push(Buffer.from(bytes));
    if (!this.takes) this.writableLength += bytes.length;
    return this.takes;
  }
  end(): void {
    this.writable = false;
  }
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.writable = false;
    this.emit("close");
  }
  /** Takes all bytes that wait. */
  drain(): void {
    this.writableLength = 0;
    this.emit("drain");
  }
  setNoDelay(): void {}
  pause(): void {}
  resume(): void {}
}

/** A fake socket, with its own type and as a `Socket`. */
export function fakeSocket(): { fake: FakeSocket; socket: Socket } {
  const fake = new FakeSocket();
  return { fake, socket: fake as unknown as Socket };
}
