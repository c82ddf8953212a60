import type { Transport } from "./transport.ts";

/** Collects whole lines into packets of at most the transport's packet size. */
export class LineBuffer {
  readonly #transport: Transport;
  #text = "";
  #bytes = 0;
  #lines = 0;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** @param line without its line end */
  add(line: string): void {
    const bytes = Buffer.byteLength(line) + 1;
    if (this.#bytes + bytes > this.#transport.packetBytes) this.send();
    this.#text += `${line}\n`;
    this.#bytes += bytes;
    this.#lines++;
  }

  send(): void {
    if (this.#lines === 0) return;
    this.#transport.send(this.#text, this.#lines);
    this.#text = "";
    this.#bytes = 0;
    this.#lines = 0;
  }
}
