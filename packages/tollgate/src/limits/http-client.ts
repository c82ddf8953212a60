import type { RateLimitRequest, RateLimitResponse } from "../protocol/messages.ts";
import { responseFromJson } from "../protocol/response-from-json.ts";
import type { ClientOptions, RateLimitClient } from "./rate-limit-client.ts";

/** Bytes of an answer. An answer has at most a hundred bytes for each descriptor, and the headers. */
const LONGEST_ANSWER = 1024 * 1024;

/** The longest time of a timer. A longer one would end at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

export function isHttpAddress(address: string): boolean {
  return /^https?:/i.test(address);
}

/** Asks a service over `POST /json`, with `fetch`, which every runtime has. */
export class HttpClient implements RateLimitClient {
  readonly #address: string;
  readonly #url: URL;
  readonly #timeout: number;
  /** Those of the calls in flight. */
  readonly #controllers = new Set<AbortController>();
  #isClosed = false;

  /** @throws {TypeError} if `fetch` cannot use the options */
  constructor({ address, timeout, tls }: ClientOptions & { readonly address: string }) {
    this.#url = urlOf(address);
    if (tls !== undefined)
      throw new TypeError(
        'tls is for gRPC; for HTTP with the certificate authorities of the runtime, begin the address with "https:"',
      );
    this.#address = address;
    this.#timeout = Math.min(timeout, LONGEST_TIMEOUT);
  }

  async shouldRateLimit(request: RateLimitRequest): Promise<RateLimitResponse> {
    const controller = new AbortController();
    const timer = setTimeout(
      () => controller.abort(new Error(`no response within ${this.#timeout} ms`)),
      this.#timeout,
    );
    this.#controllers.add(controller);
    try {
      if (this.#isClosed) throw new Error("the limits are closed");
      return await this.#ask(request, controller.signal);
    } catch (error) {
      throw new Error(`Tollgate at ${this.#address}: ${reasonOf(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
      this.#controllers.delete(controller);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const controller of this.#controllers) controller.abort(new Error("the limits are closed"));
  }

  async #ask(request: RateLimitRequest, signal: AbortSignal): Promise<RateLimitResponse> {
    const response = await fetch(this.#url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(request),
      redirect: "manual",
      signal,
    }).catch((error: Error) => {
      // Node's "fetch failed" has the reason as its cause.
      throw error.cause ?? error;
    });
    const text = await textOf(response);
    if (response.status !== 200 && response.status !== 429)
      throw new Error(`it answers with status ${response.status}${detailOf(text)}`);
    return responseFromJson(JSON.parse(text));
  }
}

function urlOf(address: string): URL {
  const url = URL.parse(address);
  if (url === null || url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw new TypeError(
      `address must be a URL with a host, a port and possibly a path, not ${JSON.stringify(address)}`,
    );
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return new URL("json", url);
}

/** @throws {Error} if the body is longer than an answer of the service */
async function textOf({ body }: Response): Promise<string> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  // A loop that is left ends the body.
  for await (const piece of body) {
    size += piece.length;
    if (size > LONGEST_ANSWER) throw new Error(`its answer has more than ${LONGEST_ANSWER} bytes`);
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

/** The detail of problem details, or nothing. */
function detailOf(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { readonly detail?: unknown };
    return typeof detail === "string" ? `: ${detail}` : "";
  } catch {
    return "";
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The error for a name with several addresses has only a code.
  return error.message || String((error as { readonly code?: unknown }).code ?? error.name);
}
