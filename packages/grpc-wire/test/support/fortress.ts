import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { scaled } from "../../../../tools/time-scale.ts";
import type { BoundAddress, ServerCounts, ServerOptions } from "../../src/index.ts";
import { preface, RawClient, settings } from "./raw-client.ts";

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

/** The service that a neighbour got during an attack. */
export interface Service {
  readonly calls: number;
  /** The slowest call, in milliseconds. */
  readonly worstMs: number;
}

/** A caller in a thread of its own; see `neighbour-thread.ts`. */
export class Neighbour {
  readonly #thread: Worker;

  private constructor(thread: Worker) {
    this.#thread = thread;
  }

  static async open(fortress: Fortress): Promise<Neighbour> {
    const thread = new Worker(new URL("./neighbour-thread.ts", import.meta.url), {
      workerData: fortress.port,
    });
    await once(thread, "message");
    return new Neighbour(thread);
  }

  start(): void {
    this.#thread.postMessage("start");
  }

  /** Rejects where a call failed. */
  async stop(): Promise<Service> {
    this.#thread.postMessage("stop");
    const [service] = await once(this.#thread, "message");
    return service as Service;
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }
}

/** Writes `chunk` again and again until the peer closes or `times` are sent; waits where the peer does not read. */
export async function flood(
  socket: Socket,
  chunk: Buffer,
  times: number,
  patienceMs = scaled(2000),
): Promise<void> {
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
