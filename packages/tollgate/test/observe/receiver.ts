import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";

/** One parsed line of the statsd protocol. */
export interface StatsdLine {
  readonly name: string;
  readonly value: number;
  readonly type: string;
  /** 1 if the line has no rate. */
  readonly rate: number;
  readonly tags: readonly string[];
}

const shape = /^([^:|@#\s]+):(-?\d+(?:\.\d+)?)\|(c|g|ms)(?:\|@(\d?\.?\d+))?(?:\|#([^|\s]+))?$/;

/** @throws if the line is not a valid statsd line */
export function parseLine(line: string): StatsdLine {
  const match = shape.exec(line);
  if (match === null) throw new Error(`not a statsd line: ${JSON.stringify(line)}`);
  const [, name, value, type, rate, tags] = match;
  return {
    name: name!,
    value: Number(value),
    type: type!,
    rate: rate === undefined ? 1 : Number(rate),
    tags: tags?.split(",") ?? [],
  };
}

/** A statsd server for tests. Parses the lines it receives. */
export class Receiver {
  readonly lines: StatsdLine[] = [];
  /** Received datagrams or chunks. */
  readonly packets: string[] = [];
  #close: () => Promise<void> = async () => {};
  #waiting: { readonly test: (lines: readonly StatsdLine[]) => boolean; readonly resolve: () => void }[] = [];
  port = 0;

  static async stream(at: { port?: number; path?: string } = {}): Promise<Receiver> {
    const receiver = new Receiver();
    const sockets = new Set<Socket>();
    const server: Server = createServer((socket) => {
      sockets.add(socket);
      let rest = "";
      socket.on("data", (chunk) => {
        const parts = (rest + String(chunk)).split("\n");
        rest = parts.pop()!;
        receiver.#take(String(chunk), parts);
      });
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
    });
    server.listen(at.path === undefined ? { port: at.port ?? 0, host: "127.0.0.1" } : { path: at.path });
    await once(server, "listening");
    const address = server.address();
    receiver.port = typeof address === "object" && address !== null ? address.port : 0;
    receiver.#close = async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    };
    return receiver;
  }

  static async datagrams(): Promise<Receiver> {
    const receiver = new Receiver();
    const socket = createSocket("udp4");
    socket.on("message", (message) => {
      const parts = String(message).split("\n");
      if (parts.at(-1) === "") parts.pop();
      receiver.#take(String(message), parts);
    });
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    receiver.port = socket.address().port;
    receiver.#close = async () => {
      socket.close();
      await once(socket, "close");
    };
    return receiver;
  }

  close(): Promise<void> {
    return this.#close();
  }

  /** Waits until the lines so far pass the test. */
  async until(test: (lines: readonly StatsdLine[]) => boolean): Promise<void> {
    if (test(this.lines)) return;
    await new Promise<void>((resolve) => this.#waiting.push({ test, resolve }));
  }

  /** The sum of the counter of this name. */
  total(name: string): number {
    return this.lines
      .filter((line) => line.name === name && line.type === "c")
      .reduce((sum, line) => sum + line.value, 0);
  }

  #take(packet: string, lines: readonly string[]): void {
    this.packets.push(packet);
    for (const line of lines) this.lines.push(parseLine(line));
    this.#waiting = this.#waiting.filter(({ test, resolve }) => {
      if (!test(this.lines)) return true;
      resolve();
      return false;
    });
  }
}
