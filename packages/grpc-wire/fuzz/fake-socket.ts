import { EventEmitter } from "node:events";
import type { Socket } from "node:net";

/** As much of a socket as a connection uses: what is written is kept, what is received is said. No network, no time. */
class FakeSocket extends EventEmitter {
  readonly written: Buffer[] = [];
  readonly remoteAddress = "127.0.0.1";
  readonly remotePort = 1;
  readonly remoteFamily = "IPv4";
  readonly writableLength = 0;
  writable = true;
  destroyed = false;
  write(bytes: Buffer): boolean {
    this.written.push(Buffer.from(bytes));
    return true;
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
  setNoDelay(): void {}
  pause(): void {}
  resume(): void {}
}

/** A fake socket, as itself and as what it stands for. */
export function fakeSocket(): { fake: FakeSocket; socket: Socket } {
  const fake = new FakeSocket();
  return { fake, socket: fake as unknown as Socket };
}
