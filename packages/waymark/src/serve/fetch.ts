import type { Application } from "../application.ts";
import type { Answer } from "../http/answer.ts";
import { HttpError, problemAnswer } from "../http/error.ts";
import type { Incoming } from "../http/incoming.ts";

/** A WHATWG request as the core sees it. */
class FetchIncoming implements Incoming {
  readonly method: string;
  readonly target: string;
  readonly scheme: string;
  readonly remoteAddress = undefined;
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
    this.method = request.method;
    const { url } = request;
    const scheme = url.indexOf(":");
    this.scheme = url.slice(0, scheme);
    const path = url.indexOf("/", scheme + 3);
    const fragment = url.indexOf("#", path);
    this.target = fragment === -1 ? url.slice(path) : url.slice(path, fragment);
  }

  get hasBody(): boolean {
    return this.#request.body !== null;
  }

  header(name: string): string | undefined {
    const value = this.#request.headers.get(name);
    // The standard's Request has no Host header of its own; the URL says it.
    return value ?? (name === "host" ? new URL(this.#request.url).host : undefined);
  }

  headers(): [string, string][] {
    return [...this.#request.headers];
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  get gone(): boolean {
    return this.#request.signal.aborted;
  }

  async read(limit: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of this.stream(limit)) {
      pieces.push(piece);
      size += piece.length;
    }
    if (pieces.length === 1) return pieces[0]!;
    const whole = new Uint8Array(size);
    let at = 0;
    for (const piece of pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }

  async *stream(limit: number): AsyncGenerator<Uint8Array> {
    const tooLarge = () => new HttpError(413, `the body is larger than ${limit} bytes`);
    if (Number(this.#request.headers.get("content-length") ?? 0) > limit) throw tooLarge();
    if (this.#request.body === null) return;
    let size = 0;
    for await (const piece of this.#request.body) {
      size += piece.length;
      if (size > limit) throw tooLarge();
      yield piece;
    }
  }
}

/** Serves one WHATWG request. Never rejects. */
export async function fetchAdapter(application: Application, request: Request): Promise<Response> {
  const incoming = new FetchIncoming(request);
  const answer = await application.handle(incoming);
  const report = (error: unknown) => application.report(error, incoming);
  try {
    return responseOf(answer, report);
  } catch (error) {
    report(error);
    return responseOf(problemAnswer(new HttpError(500)), report);
  }
}

function responseOf({ status, headers, body }: Answer, report: (error: unknown) => void): Response {
  const pairs: [string, string][] = [];
  for (let at = 0; at < headers.length; at += 2) pairs.push([headers[at]!, headers[at + 1]!]);
  const sent =
    body === null || typeof body === "string" || body instanceof Uint8Array ? body : streamOf(body, report);
  return new Response(sent as ConstructorParameters<typeof Response>[0], { status, headers: pairs });
}

function streamOf(
  body: AsyncIterable<Uint8Array | string>,
  report: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  if (body instanceof ReadableStream) return body;
  const iterator = body[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const step = await iterator.next().catch((error: unknown) => {
        report(error);
        throw error;
      });
      if (step.done === true) controller.close();
      else controller.enqueue(typeof step.value === "string" ? encoder.encode(step.value) : step.value);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
