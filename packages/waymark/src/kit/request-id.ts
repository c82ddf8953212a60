import type { Controller } from "../controller/controller.ts";
import { type Exchange, Slot } from "../controller/exchange.ts";
import type { Part } from "../controller/part.ts";

/** Options of {@link requestId}. */
export interface RequestIdOptions {
  /** The header of request and answer. Default `x-request-id`. */
  readonly header?: string;
  /** Takes the client's id. For servers behind a proxy that sets the header itself. Default false. */
  readonly trust?: boolean;
  /** Makes an id. Default: a random UUID. */
  readonly generate?: () => string;
}

/** The part that {@link requestId} returns. */
export interface RequestIds extends Part {
  /** The id of a request. */
  of(request: Controller | Exchange): string;
}

/** Longer ids, or ids with other characters, could forge lines of a log. */
const ACCEPTABLE = /^[\w.:+/=@-]{1,128}$/;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const pool = new Uint8Array(16 * 1024);
let taken = pool.length;

/** A UUID of version 4. Takes its random bytes in bulk, which saves 0.5 of the 0.7 µs of `crypto.randomUUID()`. */
function randomId(): string {
  if (taken === pool.length) {
    crypto.getRandomValues(pool);
    taken = 0;
  }
  const at = taken;
  taken += 16;
  const hex = (offset: number) => HEX[pool[at + offset]!]!;
  const version = HEX[(pool[at + 6]! & 0x0f) | 0x40]!;
  const variant = HEX[(pool[at + 8]! & 0x3f) | 0x80]!;
  return (
    `${hex(0) + hex(1) + hex(2) + hex(3)}-${hex(4) + hex(5)}-${version + hex(7)}-` +
    `${variant + hex(9)}-${hex(10) + hex(11) + hex(12) + hex(13) + hex(14) + hex(15)}`
  );
}

/**
 * Gives every request an id, and sends it with the answer.
 * @example
 * ```ts
 * import { Application, Controller } from "@tollway/waymark";
 * import { requestId } from "@tollway/waymark/kit";
 *
 * const ids = requestId();
 *
 * class Default extends Controller {
 *   GET() { return ids.of(this); }
 * }
 *
 * export const application = new Application({ controllers: { Default }, use: [ids] });
 * ```
 */
export function requestId(options: RequestIdOptions = {}): RequestIds {
  const { trust = false, generate = randomId } = options;
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
