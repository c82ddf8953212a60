import { PassThrough } from "node:stream";

const METHODS = ["write", "end", "on", "once", "off", "removeListener", "destroy"] as const;

/** The parts of a streamed answer. */
export interface Streamed {
  readonly head: { readonly statusCode: number } & Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly bytes: Uint8Array;
}

/**
 * The stream that Lambda's Node runtime passes to a function: an object with the methods of a `Writable`, which is
 * none. As in the runtime, the head is sent with the first write, and nothing is sent for an answer without one.
 */
export class LambdaStream {
  readonly inner: PassThrough;
  readonly facade: object;
  #head: object | undefined = undefined;

  constructor(highWaterMark = 16 * 1024) {
    this.inner = new PassThrough({ highWaterMark });
    const write = this.inner.write.bind(this.inner);
    const methods = METHODS.map((name) => [name, this.inner[name].bind(this.inner)] as const);
    this.facade = Object.assign(Object.fromEntries(methods), {
      stream: this,
      write: (piece: string | Uint8Array) => {
        if (typeof piece !== "string" && !(piece instanceof Uint8Array))
          throw new TypeError("the runtime would write this piece as JSON");
        if (this.#head !== undefined) {
          write(JSON.stringify(this.#head));
          write(new Uint8Array(8));
          this.#head = undefined;
        }
        return write(piece);
      },
    });
  }

  prelude(head: object): void {
    this.#head = head;
  }

  /** Everything that was written, once the function has ended the stream. */
  async all(): Promise<Streamed> {
    const pieces: Buffer[] = [];
    for await (const piece of this.inner) pieces.push(piece as Buffer);
    const bytes = Buffer.concat(pieces);
    const end = bytes.indexOf("\0".repeat(8));
    if (end === -1) throw new Error("the answer has no head");
    const body = bytes.subarray(end + 8);
    return { head: JSON.parse(bytes.subarray(0, end).toString()), bytes: body, body: body.toString() };
  }
}

/** Makes a streaming handler as a module does that Lambda's Node runtime loads. */
export function withStreaming<Result>(make: () => Result): Result {
  const HttpResponseStream = {
    from(facade: { stream: LambdaStream }, head: object) {
      facade.stream.prelude(head);
      return facade;
    },
  };
  const awslambda = { streamifyResponse: (inner: unknown) => inner, HttpResponseStream };
  Object.assign(globalThis, { awslambda });
  try {
    return make();
  } finally {
    Reflect.deleteProperty(globalThis, "awslambda");
  }
}
