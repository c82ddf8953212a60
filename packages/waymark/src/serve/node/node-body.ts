import type { IncomingMessage } from "node:http";
import type { NodeIncoming } from "./node-incoming.ts";

/** The body of a `node:http` request, one piece per call, so that the client sends at the reader's pace. */
export class NodeBody {
  readonly #incoming: NodeIncoming;
  readonly #request: IncomingMessage;
  #started = false;
  #pieces: Uint8Array[] = [];
  #state: "open" | "ended" | "broken" = "open";
  #wake: (() => void) | undefined = undefined;

  constructor(incoming: NodeIncoming, request: IncomingMessage) {
    this.#incoming = incoming;
    this.#request = request;
  }

  /** Undefined after the last piece. Rejects if the client leaves before it. */
  async next(): Promise<Uint8Array | undefined> {
    if (!this.#started) this.#start();
    for (;;) {
      const piece = this.#pieces.shift();
      if (piece !== undefined) return piece;
      if (this.#state === "ended") return undefined;
      if (this.#state === "broken") throw new Error("the client left before its body was complete");
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.#request.resume();
      });
    }
  }

  /** Stops reading. The connection discards the rest. */
  release(): void {
    this.#request.off("data", this.#onData);
    this.#request.off("end", this.#onEnd);
    this.#request.off("close", this.#onClose);
    this.#onClose();
  }

  #start(): void {
    this.#started = true;
    this.#incoming.invite();
    this.#request.on("data", this.#onData);
    this.#request.on("end", this.#onEnd);
    this.#request.on("close", this.#onClose);
  }

  readonly #onData = (piece: Uint8Array) => {
    this.#request.pause();
    this.#pieces.push(piece);
    this.#wake?.();
  };

  readonly #onEnd = () => {
    this.#state = "ended";
    this.#wake?.();
  };

  readonly #onClose = () => {
    if (this.#state === "open") this.#state = "broken";
    this.#wake?.();
  };
}
