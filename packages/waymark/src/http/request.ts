import type { Incoming } from "./incoming.ts";
import { type TrustProxy, urlOf } from "./proxy.ts";
import { readableOf } from "./readable.ts";

/** The parts of a call that its request shows. */
interface Shown {
  readonly incoming: Incoming;
  readonly settings: { readonly trustProxy: TrustProxy };
  readonly signal: AbortSignal;
  /** The body's bytes, once read. */
  readonly bytes: Uint8Array | undefined;
  /** The body as it arrives. */
  stream(): AsyncGenerator<Uint8Array>;
}

/** The request of a call as a WHATWG `Request`. Its body is what the arguments have read, or still arrives. */
export function requestOf(call: Shown): Request {
  const { incoming } = call;
  const { method } = incoming;
  const init: RequestInit & { duplex?: "half" } = {
    method,
    headers: incoming.headers() as [string, string][],
    signal: call.signal,
  };
  // A WHATWG Request with these two methods cannot have a body.
  if (incoming.hasBody && method !== "GET" && method !== "HEAD") {
    init.body = (call.bytes ?? readableOf(call.stream())) as NonNullable<RequestInit["body"]>;
    init.duplex = "half";
  }
  return new Request(urlOf(incoming, call.settings.trustProxy), init);
}
