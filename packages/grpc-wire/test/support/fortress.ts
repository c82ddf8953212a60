import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import type { BoundAddress, ServerCounts, ServerOptions } from "../../src/index.ts";
import { frame, preface, RawClient, settings, type, uint32 } from "./raw-client.ts";

export interface Measure extends ServerCounts {
  /** Heap and buffers after a garbage collection. */
  readonly heldBytes: number;
}

/** A server under attack, in its own process. */
export class Fortress {
  readonly #process: ChildProcess;
  #measured: Promise<unknown> = Promise.resolve();
  readonly port: number;

  private constructor(process: ChildProcess, port: number) {
    this.#process = process;
    this.port = port;
  }

  static async start(options: ServerOptions): Promise<Fortress> {
    const script = fileURLToPath(new URL("./fortress-process.ts", import.meta.url));
    const child = fork(script, [JSON.stringify(options)], { execArgv: ["--expose-gc"] });
    const [bound] = (await once(child, "message")) as [BoundAddress];
    return new Fortress(child, bound.kind === "tcp" ? bound.port : 0);
  }

  /** One at a time, so that each asker gets an answer made after its question. */
  measure(): Promise<Measure> {
    const answer = this.#measured.then(async () => {
      this.#process.send("measure");
      const [measure] = await once(this.#process, "message");
      return measure as Measure;
    });
    this.#measured = answer.catch(() => {});
    return answer;
  }

  open(first: Buffer = settings()): Promise<RawClient> {
    return RawClient.open({ port: this.port, host: "127.0.0.1" }, first);
  }

  /** A socket that has sent the preface and SETTINGS, and never reads. */
  async deaf(): Promise<Socket> {
    const socket = connect({ port: this.port, host: "127.0.0.1" });
    socket.on("error", () => {});
    socket.pause();
    await once(socket, "connect");
    socket.write(Buffer.concat([preface, settings()]));
    return socket;
  }

  stop(): void {
    this.#process.disconnect();
  }
}

/** A well-behaved caller beside an attack: calls one after the other, and how long the slowest took. */
export class Neighbour {
  calls = 0;
  worstMs = 0;
  #enough = Number.POSITIVE_INFINITY;
  readonly #client: RawClient;
  readonly #running: Promise<void>;

  private constructor(client: RawClient) {
    this.#client = client;
    this.#running = this.#run();
  }

  static async start(fortress: Fortress): Promise<Neighbour> {
    const client = await fortress.open();
    client.send(frame(type.windowUpdate, 0, 0, uint32(0x7fff0000 - 0xffff)));
    return new Neighbour(client);
  }

  /** Ends the calls once a few were made; rejects where one failed. */
  async stop(): Promise<void> {
    this.#enough = this.calls + 3;
    await this.#running;
    this.#client.close();
  }

  async #run(): Promise<void> {
    for (let id = 1; this.calls < this.#enough; id += 2) {
      const started = performance.now();
      this.#client.frames.length = 0;
      this.#client.send(this.#client.call(id, "/a.A/Echo", "neighbour"));
      const { messages } = await this.#client.answer(id);
      if (String(messages[0]) !== "neighbour") throw new Error(`the neighbour's call ${id} went wrong`);
      this.worstMs = Math.max(this.worstMs, performance.now() - started);
      this.calls += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Writes `chunk` again and again until the peer closes or `times` are sent; waits where the peer does not read. */
export async function flood(socket: Socket, chunk: Buffer, times: number, patienceMs = 2000): Promise<void> {
  for (let index = 0; index < times && !socket.destroyed && socket.writable; index++) {
    if (socket.write(chunk)) continue;
    const drained = await drain(socket, patienceMs);
    if (!drained) return;
  }
}

/** Whether the socket drained, before it closed and before the time was up. */
function drain(socket: Socket, patienceMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (drained: boolean) => {
      socket.off("drain", onDrain);
      socket.off("close", onClose);
      clearTimeout(timer);
      resolve(drained);
    };
    const onDrain = () => settle(true);
    const onClose = () => settle(false);
    const timer = setTimeout(settle, patienceMs, false);
    socket.once("drain", onDrain);
    socket.once("close", onClose);
  });
}
