import type { StreamBody } from "./answer.ts";

type Step = IteratorResult<unknown, unknown>;
type Piece = Uint8Array | string;
const DONE: Step = { done: true, value: undefined };

/** The first piece: as the origin returned it, and encoded. */
export interface First {
  readonly value: unknown;
  readonly piece: Piece;
}

/** The origin of a streamed body's pieces. */
interface Origin {
  /** The next piece. The first call opens the origin. */
  next(): Step | PromiseLike<Step>;
  /** Frees the origin's resources. Also called if no piece was ever read. */
  release(): unknown;
}

/**
 * A streamed body that this package owns. It is read to its end, or `return()` releases its origin. `return()` also
 * ends a pending `next()`. Later errors of the origin are ignored.
 */
export class BodySource implements StreamBody, AsyncIterator<Piece> {
  /** True if pieces other than text and bytes become JSON: for a generator or another iterable. */
  readonly isIterable: boolean;
  readonly #origin: Origin;
  /** Encodes a value from the origin as a piece. */
  encode: (value: unknown) => Piece = bytesOnly;
  /** Called once, after the last piece. */
  onEnd: (() => void) | undefined = undefined;
  #first: Promise<First | undefined> | undefined = undefined;
  #opening = false;
  #over = false;
  #settle: ((step: Step) => void) | undefined = undefined;

  constructor(origin: Origin, isIterable: boolean) {
    this.#origin = origin;
    this.isIterable = isIterable;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /**
   * Opens the origin at once. Resolves with its first piece, which `next()` returns again. Undefined if the origin
   * has no piece.
   */
  peek(): Promise<First | undefined> {
    this.#first ??= this.#take();
    // Without a handler, an error of a piece that is never read would end the process.
    this.#first.catch(() => undefined);
    return this.#first;
  }

  /** Makes `next()` return an empty piece before the first one. The adapter sends the head with it. */
  openEmpty(): void {
    this.#opening = true;
  }

  async next(): Promise<IteratorResult<Piece, undefined>> {
    if (this.#opening) {
      this.#opening = false;
      return { done: false, value: "" };
    }
    const first = this.#first;
    this.#first = undefined;
    const taken = await (first ?? this.#take());
    return taken === undefined ? { done: true, value: undefined } : { done: false, value: taken.piece };
  }

  async #take(): Promise<First | undefined> {
    try {
      const step = await this.#step();
      if (step.done !== true) return { value: step.value, piece: this.encode(step.value) };
      this.#end();
      return undefined;
    } catch (error) {
      void this.return();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Piece, undefined>> {
    if (!this.#over) {
      this.#end();
      this.#first = undefined;
      this.#opening = false;
      this.#settle?.(DONE);
      try {
        await this.#origin.release();
      } catch {
        // The answer is already decided.
      }
    }
    return { done: true, value: undefined };
  }

  #step(): Step | Promise<Step> {
    if (this.#over) return DONE;
    const step = this.#origin.next();
    if (!("then" in step)) return step;
    return new Promise((resolve, reject) => {
      this.#settle = resolve;
      step.then(resolve, reject);
    });
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.onEnd?.();
  }
}

/** Wraps a stream or an iterable that a method returned. Undefined for any other object. */
export function sourceOf(value: object): BodySource | undefined {
  if (value instanceof ReadableStream) return webSource(value);
  if (isNodeStream(value)) return nodeSource(value);
  if (isIterator(value)) return iterableSource(value);
  return undefined;
}

export function webSource(stream: ReadableStream): BodySource {
  let reader: ReadableStreamDefaultReader<unknown> | undefined;
  const next = () => {
    reader ??= stream.getReader();
    return reader.read();
  };
  return new BodySource({ next, release: () => (reader ?? stream).cancel() }, false);
}

/** The part of a Node stream that is used here. Streams are recognised by their shape. */
interface NodeStream extends AsyncIterable<unknown> {
  pipe: unknown;
  on?(event: "error", listener: () => void): unknown;
  destroy?(): unknown;
}

function nodeSource(stream: NodeStream): BodySource {
  // A stream may fail before its first piece is read, or after it was destroyed.
  stream.on?.("error", () => undefined);
  let iterator: AsyncIterator<unknown> | undefined;
  const next = () => {
    iterator ??= stream[Symbol.asyncIterator]();
    return iterator.next();
  };
  return new BodySource({ next, release: () => stream.destroy?.() }, false);
}

type AnyIterable = AsyncIterable<unknown> | Iterable<unknown>;

function iterableSource(value: AnyIterable): BodySource {
  let iterator: AsyncIterator<unknown> | Iterator<unknown> | undefined;
  const next = () => {
    iterator ??= Symbol.asyncIterator in value ? value[Symbol.asyncIterator]() : value[Symbol.iterator]();
    return iterator.next();
  };
  const release = () => (iterator ?? (value as Partial<AsyncIterator<unknown>>)).return?.();
  return new BodySource({ next, release }, true);
}

function isNodeStream(value: object): value is NodeStream {
  return "pipe" in value && typeof value.pipe === "function" && Symbol.asyncIterator in value;
}

/** True for an async iterable, or the iterator of a generator. Plain iterables such as arrays are data. */
function isIterator(value: object): value is AnyIterable {
  if (Symbol.asyncIterator in value) return true;
  return Symbol.iterator in value && "next" in value && typeof value.next === "function";
}

function bytesOnly(value: unknown): Piece {
  if (typeof value === "string" || value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  const found = value === null ? "null" : typeof value;
  throw new TypeError(
    `a stream must consist of text and bytes, but a piece of this one is ${found}: return a generator to send JSON`,
  );
}
