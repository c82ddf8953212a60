import { EventEmitter } from "node:events";
import type { Socket } from "node:net";

/** As much of a socket as a connection uses: what is written is kept, what is received is said. No network, no time. */
class FakeSocket extends EventEmitter {
  readonly written: Buffer[] = [];
  readonly remoteAddress = "127.0.0.1";
  readonly remotePort = 1;
  readonly remoteFamily = "IPv4";
  /** Bytes written that nobody took. */
  writableLength = 0;
  /** Whether what is written is taken at once. */
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
  /** All that waits is taken. */
  drain(): void {
    this.writableLength = 0;
    this.emit("drain");
  }
  setNoDelay(): void {}
  pause(): void {}
  resume(): void {}
}

/** A fake socket, as itself and as what it stands for. */
export function fakeSocket(): { fake: FakeSocket; socket: Socket } {
  const fake = new FakeSocket();
  return { fake, socket: fake as unknown as Socket };
}
