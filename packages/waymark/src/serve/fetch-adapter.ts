import { type Answer, discard, isStream } from "../http/answer.ts";
import { HttpError, problemAnswer } from "../http/http-error.ts";
import type { Incoming } from "../http/incoming.ts";
import { streamOf } from "./fetch-stream.ts";
import type { RequestHandler } from "./handler.ts";

/** The facts about a request that a runtime knows besides the WHATWG `Request`. */
export interface Origin {
  /** The peer's address. */
  readonly remoteAddress?: string | undefined;
  /** Aborts when the client goes away, where the signal of the `Request` means something else. */
  readonly signal?: AbortSignal | undefined;
  /** Whether the head of an answer waits for the first byte of its body. */
  readonly headWaits?: boolean;
}

/** A WHATWG request for the core. */
class FetchIncoming implements Incoming {
  readonly method: string;
  readonly target: string;
  readonly scheme: string;
  readonly remoteAddress: string | undefined;
  /** The URL has the host. */
  readonly requiresHost = false;
  readonly #request: Request;
  readonly #own: AbortSignal | undefined;
  readonly #authority: string;
  #abort: AbortController | undefined = undefined;

  constructor(request: Request, { remoteAddress, signal }: Origin) {
    this.#request = request;
    this.#own = signal;
    this.remoteAddress = remoteAddress;
    this.method = request.method;
    const { url } = request;
    const scheme = url.indexOf(":");
    this.scheme = url.slice(0, scheme);
    const path = url.indexOf("/", scheme + 3);
    this.#authority = url.slice(scheme + 3, path);
    const fragment = url.indexOf("#", path);
    this.target = fragment === -1 ? url.slice(path) : url.slice(path, fragment);
  }

  get hasBody(): boolean {
    return this.#request.body !== null;
  }

  header(name: string): string | undefined {
    const value = this.#request.headers.get(name);
    // A WHATWG Request has no Host header of its own. Its URL has the host.
    return value ?? (name === "host" ? this.#authority : undefined);
  }

  headers(): [string, string][] {
    return [...this.#request.headers];
  }

  get signal(): AbortSignal {
    return this.abort.signal;
  }

  /** Aborts the signal. Deno and workers cancel the body of an answer when its client leaves. */
  get abort(): AbortController {
    if (this.#abort === undefined) {
      const own = new AbortController();
      const client = this.#client;
      if (client.aborted) own.abort(client.reason);
      else client.addEventListener("abort", () => own.abort(client.reason), { once: true });
      this.#abort = own;
    }
    return this.#abort;
  }

  get gone(): boolean {
    return this.#client.aborted;
  }

  get #client(): AbortSignal {
    return this.#own ?? this.#request.signal;
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
export async function fetchAdapter(
  application: RequestHandler,
  request: Request,
  origin: Origin = {},
): Promise<Response> {
  const incoming = new FetchIncoming(request, origin);
  const answer = await application.handle(incoming);
  const report = (error: unknown) => application.report(error, incoming);
  if (incoming.gone) discard(answer.body);
  const sent = incoming.gone ? { ...answer, body: null } : answer;
  try {
    return responseOf(sent, incoming, report, origin.headWaits);
  } catch (error) {
    discard(answer.body);
    report(error);
    return responseOf(problemAnswer(new HttpError(500)), incoming, report);
  }
}

/** Without `encodeBody`, a worker compresses a body whose headers say that it is compressed. */
function responseOf(
  { status, headers, body }: Answer,
  incoming: FetchIncoming,
  report: Report,
  headWaits = false,
): Response {
  const pairs: [string, string][] = [];
  for (let at = 0; at < headers.length; at += 2) pairs.push([headers[at]!, headers[at + 1]!]);
  const sent = isStream(body) ? streamOf(body, incoming, { report, headers, headWaits }) : body;
  const init: ResponseInit & { encodeBody: "manual" } = { status, headers: pairs, encodeBody: "manual" };
  return new Response(sent as ConstructorParameters<typeof Response>[0], init);
}

type Report = (error: unknown) => void;
