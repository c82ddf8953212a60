import type { ChildProcess } from "node:child_process";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { HttpError, problemAnswer } from "../../http/http-error.ts";
import type { WatcherMessage } from "./messages.ts";

/** Connections that wait for a process that is starting. The port closes further ones. */
const MOST_WAITING = 256;
/** Time for a refused client to send its request. */
const REFUSAL_MS = 2_000;

/**
 * A port that stays open while one process replaces another. It passes each connection to the process that serves.
 * Connections wait while a process starts. If it cannot start, they get 503 with the reason.
 */
export class KeptPort {
  readonly port: number;
  readonly #server: Server;
  readonly #waiting = new Set<Socket>();
  #target: ChildProcess | undefined = undefined;
  #fault: string | undefined = undefined;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on("connection", (socket: Socket) => this.#take(socket));
  }

  /** Rejects if the port cannot be opened. */
  static open({
    host,
    port,
  }: {
    readonly host: string | undefined;
    readonly port: number;
  }): Promise<KeptPort> {
    return new Promise((resolve, reject) => {
      // A paused socket keeps its bytes for the process that it is passed to.
      const server = createServer({ pauseOnConnect: true });
      server.once("error", reject);
      server.listen({ port, ...(host !== undefined && { host }) }, () => {
        server.off("error", reject);
        server.on("error", (error) => console.error(`waymark: cannot accept a connection: ${error.message}`));
        resolve(new KeptPort(server));
      });
    });
  }

  /** Passes connections to a process, from those that wait on. */
  pass(target: ChildProcess): void {
    this.#target = target;
    this.#fault = undefined;
    for (const socket of this.#waiting) this.#send(socket, target);
    this.#waiting.clear();
  }

  /** Lets connections wait for the next process. */
  hold(): void {
    this.#target = undefined;
    this.#fault = undefined;
  }

  /** Answers connections with 503 until the next `pass` or `hold`. */
  refuse(fault: string): void {
    this.#target = undefined;
    this.#fault = fault;
    for (const socket of this.#waiting) refuse(socket, fault);
    this.#waiting.clear();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#waiting) socket.destroy();
  }

  #take(socket: Socket): void {
    socket.on("error", () => socket.destroy());
    if (this.#target !== undefined) this.#send(socket, this.#target);
    else if (this.#fault !== undefined) refuse(socket, this.#fault);
    else if (this.#waiting.size >= MOST_WAITING) socket.destroy();
    else {
      this.#waiting.add(socket);
      socket.once("close", () => this.#waiting.delete(socket));
    }
  }

  #send(socket: Socket, target: ChildProcess): void {
    if (!target.connected) {
      socket.destroy();
      return;
    }
    const message: WatcherMessage = { connection: true };
    target.send(message, socket, (error) => {
      if (error !== null) socket.destroy();
    });
  }
}

/** Waits for the request, because closing a connection with unread bytes can destroy the answer on its way. */
function refuse(socket: Socket, fault: string): void {
  const { headers, body } = problemAnswer(new HttpError(503, `the application cannot start: ${fault}`));
  const lines = ["HTTP/1.1 503 Service Unavailable"];
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  socket.setTimeout(REFUSAL_MS, () => socket.destroy());
  socket.once("data", () =>
    socket.end(`${lines.join("\r\n")}\r\nconnection: close\r\n\r\n${body as string}`),
  );
  socket.resume();
}
