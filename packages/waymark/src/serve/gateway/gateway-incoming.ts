import { Buffer } from "node:buffer";
import { HttpError } from "../../http/http-error.ts";
import type { Incoming } from "../../http/incoming.ts";

/** A request that another server has parsed. Subclasses provide its body. */
export abstract class GatewayIncoming implements Incoming {
  abstract readonly method: string;
  abstract readonly target: string;
  abstract readonly scheme: string;
  abstract readonly remoteAddress: string | undefined;
  abstract readonly hasBody: boolean;
  abstract readonly requiresHost: boolean;
  #gone = false;
  #abort: AbortController | undefined = undefined;

  abstract headers(): ReadonlyArray<readonly [string, string]>;

  /** The next piece of the body, never empty. Undefined after the last piece. */
  protected abstract next(): Promise<Uint8Array | undefined>;

  header(name: string): string | undefined {
    let found: string | undefined;
    for (const [each, value] of this.headers()) {
      if (each !== name) continue;
      found = found === undefined ? value : `${found}${name === "cookie" ? "; " : ", "}${value}`;
    }
    return found;
  }

  get gone(): boolean {
    return this.#gone;
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#gone) this.#abort.abort(new DOMException("the client has gone away", "AbortError"));
    return this.#abort.signal;
  }

  /** The client has gone away before its answer was complete. */
  leave(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#abort?.abort(new DOMException("the client has gone away", "AbortError"));
  }

  async read(limit: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of this.stream(limit)) {
      pieces.push(piece);
      size += piece.length;
    }
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, size);
  }

  async *stream(limit: number): AsyncGenerator<Uint8Array> {
    if (Number(this.header("content-length") ?? 0) > limit) throw tooLarge(limit);
    let size = 0;
    for (;;) {
      const piece = await this.next();
      if (piece === undefined) return;
      size += piece.length;
      if (size > limit) throw tooLarge(limit);
      yield piece;
    }
  }
}

export function tooLarge(limit: number): HttpError {
  return new HttpError(413, `the body is larger than ${limit} bytes`);
}

export function endedEarly(): HttpError {
  return new HttpError(400, "the body ended early");
}
