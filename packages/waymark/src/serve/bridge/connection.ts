import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import type { Answer } from "../../http/answer.ts";
import { passableAnswer } from "../gateway/head.ts";
import type { RequestHandler } from "../handler.ts";
import { BridgeIncoming } from "./bridge-incoming.ts";
import { BODY, CREDIT, HEADER_BYTES, LAST, LEFT, MAXIMUM_FRAME, REQUEST, wantFrame } from "./frames.ts";
import { Outgoing } from "./outgoing.ts";

interface Exchange {
  readonly incoming: BridgeIncoming;
  readonly outgoing: Outgoing;
}

/** One socket pair: an event loop or a thread of Python. Carries many concurrent exchanges. */
export class BridgeConnection {
  readonly #application: RequestHandler;
  readonly #socket: Socket;
  readonly #exchanges = new Map<number, Exchange>();
  #rest: Buffer | undefined = undefined;
  #frames: Buffer[] = [];
  #reading = false;
  #scheduled = false;

  constructor(application: RequestHandler, socket: Socket) {
    this.#application = application;
    this.#socket = socket;
    socket.on("data", (bytes: Buffer) => this.#read(bytes));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#close());
  }

  /** Handles all frames of one read before it writes. */
  #read(bytes: Buffer): void {
    const all = this.#rest === undefined ? bytes : Buffer.concat([this.#rest, bytes]);
    let at = 0;
    this.#reading = true;
    try {
      while (all.length - at >= HEADER_BYTES) {
        const length = all.readUInt32BE(at);
        if (length > MAXIMUM_FRAME) throw new RangeError(`a frame of ${length} bytes`);
        const end = at + HEADER_BYTES + length;
        if (end > all.length) break;
        this.#frame(all[at + 4]!, all.readUInt32BE(at + 5), all.subarray(at + HEADER_BYTES, end));
        at = end;
      }
    } catch (error) {
      console.error("waymark: the Python side sent an invalid frame:", error);
      this.#socket.destroy();
    }
    this.#reading = false;
    this.#rest = at === all.length ? undefined : all.subarray(at);
    this.#flush();
  }

  #frame(kind: number, number: number, payload: Buffer): void {
    if (kind === REQUEST) {
      this.#request(number, payload);
      return;
    }
    // An answer may be complete while parts of its request are still arriving.
    const exchange = this.#exchanges.get(number);
    if (exchange === undefined) return;
    if (kind === BODY) exchange.incoming.take(payload.subarray(1), (payload[0]! & LAST) !== 0);
    else if (kind === CREDIT) exchange.outgoing.credit(payload.readUInt32BE(0));
    else if (kind === LEFT) this.#leave(number, exchange);
    else throw new RangeError(`a frame of kind ${kind}`);
  }

  #request(number: number, payload: Buffer): void {
    const write = (frame: Buffer) => this.#write(frame);
    const incoming = new BridgeIncoming(payload, (size) => write(wantFrame(number, size)));
    const report = (error: unknown) => this.#application.report(error, incoming);
    const outgoing = new Outgoing(number, write, report);
    const answer = this.#application.handle(incoming);
    // The most common exchange is complete here and never becomes concurrent.
    if (!(answer instanceof Promise)) {
      const sent = outgoing.send(passableAnswer(answer, report));
      if (sent === undefined) return;
      this.#exchanges.set(number, { incoming, outgoing });
      void sent.then(() => this.#exchanges.delete(number));
      return;
    }
    this.#exchanges.set(number, { incoming, outgoing });
    void this.#finish(number, answer, outgoing, report);
  }

  async #finish(
    number: number,
    answer: Promise<Answer>,
    outgoing: Outgoing,
    report: (error: unknown) => void,
  ): Promise<void> {
    const sent = outgoing.send(passableAnswer(await answer, report));
    if (sent !== undefined) await sent;
    this.#exchanges.delete(number);
  }

  #leave(number: number, { incoming, outgoing }: Exchange): void {
    this.#exchanges.delete(number);
    incoming.leave();
    outgoing.close();
  }

  #close(): void {
    for (const [number, exchange] of this.#exchanges) this.#leave(number, exchange);
  }

  #write(frame: Buffer): void {
    this.#frames.push(frame);
    if (this.#reading || this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    const frames = this.#frames;
    if (frames.length === 0) return;
    this.#frames = [];
    if (!this.#socket.writable) return;
    this.#socket.write(frames.length === 1 ? frames[0]! : Buffer.concat(frames));
  }
}
