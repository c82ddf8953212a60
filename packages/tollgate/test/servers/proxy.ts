import { createConnection, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

/** A TCP proxy in front of a server. It can delay and withhold replies, and cut connections. */
export class FaultyProxy {
  readonly port: number;
  /** Delay of each chunk of the server's replies, in milliseconds. */
  delay = 0;
  /** Whether to withhold the replies of a connection. The first connection has the number 0. */
  held: (connection: number) => boolean = () => false;
  /** Number of further reply bytes after which a connection is cut; Infinity for never. */
  cutAfter = Number.POSITIVE_INFINITY;
  /** Number of accepted connections. */
  accepted = 0;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();

  private constructor(server: Server, targetPort: number) {
    this.#server = server;
    this.port = (server.address() as { port: number }).port;
    server.on("connection", (near) => this.#accept(near, targetPort));
  }

  static async start(targetPort: number): Promise<FaultyProxy> {
    const server = createServer({ pauseOnConnect: false });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new FaultyProxy(server, targetPort);
  }

  get url(): string {
    return `127.0.0.1:${this.port}`;
  }

  get open(): number {
    return this.#pairs.size;
  }

  /** Cuts every connection now. */
  cut(): void {
    for (const { near, far } of this.#pairs) {
      // Node 26 never closes a socket that is reset during its end, and then spins at exit (EINVAL of libuv).
      if (near.writableEnded) near.destroy();
      else near.resetAndDestroy();
      far.destroy();
    }
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #accept(near: Socket, targetPort: number): void {
    const number = this.accepted++;
    const far = createConnection(targetPort, "127.0.0.1");
    const pair = { near, far };
    this.#pairs.add(pair);
    const end = () => {
      this.#pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.on("error", end);
      socket.on("close", end);
    }
    near.on("data", (chunk) => far.write(chunk));
    let order: Promise<unknown> = Promise.resolve();
    far.on("data", (chunk: Buffer) => {
      order = order.then(() => this.#pass(chunk, number, near)).catch(end);
    });
  }

  async #pass(chunk: Buffer, number: number, near: Socket): Promise<void> {
    if (this.delay > 0) await sleep(this.delay);
    while (this.held(number) && !near.destroyed) await sleep(2);
    if (near.destroyed) return;
    if (chunk.length <= this.cutAfter) {
      this.cutAfter -= chunk.length;
      near.write(chunk);
      return;
    }
    near.write(chunk.subarray(0, this.cutAfter), () => near.destroy());
    this.cutAfter = Number.POSITIVE_INFINITY;
  }
}
