import { Buffer } from "node:buffer";
import type { Answer } from "../../http/answer.ts";
import type { AsgiSend, AsgiSent } from "../asgi/asgi-types.ts";

type Head = Pick<Answer, "status" | "headers">;

/** Combines the events of an ASGI application into one answer. Accepts pieces at the client's pace. */
export class AnswerAssembly {
  /** Resolves when the answer is complete or abandoned. */
  readonly done = Promise.withResolvers<void>();
  /** The answer if the application ends without one. */
  onMissing: () => Answer = () => ({ status: 500, headers: ["content-length", "0"], body: null });
  readonly #emit: (answer: Answer) => void;
  #head: Head | undefined = undefined;
  #streaming = false;
  #ended = false;
  #failure: unknown = undefined;
  #piece: { readonly bytes: Uint8Array; readonly taken: () => void } | undefined = undefined;
  #wake: (() => void) | undefined = undefined;

  constructor(emit: (answer: Answer) => void) {
    this.#emit = emit;
  }

  readonly send: AsgiSend = async (event) => {
    // The specification ignores events that follow the client's leaving.
    if (this.#failure !== undefined) return;
    if (event.type === "http.response.start") this.#start(event);
    else if (event.type === "http.response.body") await this.#body(event);
    else throw new TypeError(`${event.type} is not an event of an HTTP answer`);
  };

  /**
   * Ends the answer after the application has returned, failed, or lost its client. Does not affect a complete
   * answer.
   */
  end(failure: unknown): void {
    if (this.#ended || this.#failure !== undefined) return;
    this.#failure = failure;
    this.done.resolve();
    this.#piece?.taken();
    this.#wake?.();
    if (!this.#streaming) this.#emit(this.onMissing());
  }

  #start({ status, headers }: Extract<AsgiSent, { type: "http.response.start" }>): void {
    if (this.#head !== undefined) throw new Error("http.response.start was sent twice");
    this.#head = { status, headers: headers.flatMap((pair) => pair.map(latin1)) };
  }

  async #body({ body, more_body }: Extract<AsgiSent, { type: "http.response.body" }>): Promise<void> {
    if (this.#head === undefined) throw new Error("http.response.body was sent before http.response.start");
    if (this.#ended) throw new Error("http.response.body was sent after the answer was complete");
    if (!more_body) {
      this.#ended = true;
      this.done.resolve();
    }
    if (!this.#streaming) {
      this.#streaming = true;
      if (!more_body) return this.#emit({ ...this.#head, body: body.length === 0 ? null : body });
      this.#emit({ ...this.#head, body: this.#pieces() });
    }
    // An empty piece sends the head.
    if (body.length > 0 || more_body) await this.#hand(body);
    else this.#wake?.();
  }

  #hand(bytes: Uint8Array): Promise<void> {
    return new Promise((taken) => {
      this.#piece = { bytes, taken };
      this.#wake?.();
    });
  }

  async *#pieces(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = this.#piece;
      if (piece !== undefined) {
        yield piece.bytes;
        this.#piece = undefined;
        piece.taken();
      } else if (this.#failure !== undefined) throw this.#failure;
      else if (this.#ended) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}
