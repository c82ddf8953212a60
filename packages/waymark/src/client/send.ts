import type { RetryOptions } from "./types/options.ts";

/** Methods that have the same effect when a request is sent twice (RFC 9110, section 9.2). */
const REPEATABLE = /^(?:GET|HEAD|OPTIONS|PUT|DELETE|QUERY)$/;
/** Statuses of a server that may answer later. */
const PASSING = new Set([429, 502, 503, 504]);
const FIRST_DELAY_MS = 100;
const LONGEST_MS = 10_000;

/**
 * The requests of bodies that a signal may abort. Node forgets the signal of a request that was garbage-collected, and the
 * abort of a stream that is read for long would be lost.
 */
const REQUESTS = new WeakMap<ReadableStream, readonly Request[]>();

/** Sends a request, and sends it again as the options say. `isAbortable` says whether the caller has a signal. */
export async function send(
  request: Request,
  fetch: (request: Request) => Promise<Response>,
  isAbortable: boolean,
  retries: number | RetryOptions = 0,
): Promise<Response> {
  const {
    limit,
    unsafe = false,
    longest = LONGEST_MS,
  } = typeof retries === "number" ? { limit: retries } : retries;
  const attempts = unsafe || REPEATABLE.test(request.method) ? limit : 0;
  for (let attempt = 0; ; attempt++) {
    let wait: number;
    // A request's body can be sent once, so the last attempt takes the request itself.
    // A clone alone would lose its signal in the same way.
    const sent =
      attempt < attempts
        ? isAbortable
          ? new Request(request.clone(), { signal: request.signal })
          : request.clone()
        : request;
    try {
      const response = await fetch(sent);
      if (isAbortable && response.body !== null) REQUESTS.set(response.body, [request, sent]);
      if (attempt >= attempts || !PASSING.has(response.status)) return response;
      wait = retryAfter(response.headers.get("retry-after")) ?? backoff(attempt, longest);
      if (wait > longest) return response;
      await response.body?.cancel();
    } catch (error) {
      if (attempt >= attempts || request.signal.aborted) throw error;
      wait = backoff(attempt, longest);
    }
    await sleep(wait, request.signal);
  }
}

/** Random, so that clients that failed together do not come back together. */
function backoff(attempt: number, longest: number): number {
  return Math.random() * Math.min(longest, FIRST_DELAY_MS * 2 ** attempt);
}

/** `Retry-After` in milliseconds: seconds or a date. */
function retryAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
