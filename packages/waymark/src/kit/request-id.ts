import type { Controller } from "../controller/controller.ts";
import { type Exchange, Slot } from "../controller/exchange.ts";
import type { Part } from "../controller/part.ts";

export interface RequestIdOptions {
  /** The header of request and answer. Default `x-request-id`. */
  readonly header?: string;
  /** Takes the client's id. For servers behind a proxy that sets the header itself. Default false. */
  readonly trust?: boolean;
  /** Makes an id. Default: a random UUID. */
  readonly generate?: () => string;
}

export interface RequestIds extends Part {
  /** The id of a request. */
  of(request: Controller | Exchange): string;
}

/** Longer ids, or ids with other characters, could forge lines of a log. */
const ACCEPTABLE = /^[\w.:+/=@-]{1,128}$/;

/** Gives every request an id, and sends it with the answer. */
export function requestId(options: RequestIdOptions = {}): RequestIds {
  const { trust = false, generate = () => crypto.randomUUID() } = options;
  const header = (options.header ?? "x-request-id").toLowerCase();
  const ids = new Slot<string>();
  const of = (request: Controller | Exchange): string => {
    const known = ids.get(request);
    if (known !== undefined) return known;
    const sent = trust ? givenBy(request, header) : undefined;
    const id = sent !== undefined && ACCEPTABLE.test(sent) ? sent : generate();
    ids.set(request, id);
    return id;
  };
  return { of, onAnswer: (exchange) => exchange.headers.set(header, of(exchange)) };
}

function givenBy(request: Controller | Exchange, header: string): string | undefined {
  return "header" in request ? request.header(header) : (request.headers.get(header) ?? undefined);
}
