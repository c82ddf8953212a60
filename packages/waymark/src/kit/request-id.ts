import type { Controller } from "../controller/controller.ts";
import { type Exchange, Slot } from "../controller/exchange.ts";
import type { Part } from "../controller/part.ts";
import { headerName } from "../http/answer-headers.ts";

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

const BYTES = 16;
/** Ids that are made at once. An id that is kept keeps the text of all of them. */
const BATCH = 64;
const LENGTH = 36;
/** Random bytes for 16 batches: one call costs 10 µs and more, however many bytes it returns. */
const random = new Uint8Array(16 * BATCH * BYTES);
let used = random.length;
/** The positions of the bytes in an id. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
/** The two digits of each byte as one number: one store for both. */
const DIGITS = Uint16Array.from({ length: 256 }, (_, byte) => {
  const digits = byte.toString(16).padStart(2, "0");
  return (digits.charCodeAt(0) << 8) | digits.charCodeAt(1);
});
const HYPHEN = 0x2d;
/** Contains the hyphens of all ids from the beginning. */
const written = new DataView(new Uint8Array(BATCH * LENGTH).fill(HYPHEN).buffer);
/** Node decodes UTF-8 natively, and Latin-1 ten times slower in JavaScript. */
const decoder = new TextDecoder();
let batch = "";
let taken = 0;

/** A UUID of version 4. Cutting it from a text of many saves most of the 0.2 µs of `crypto.randomUUID()`. */
function randomId(): string {
  if (taken === batch.length) {
    batch = randomIds();
    taken = 0;
  }
  const from = taken;
  taken += LENGTH;
  return batch.slice(from, taken);
}

function randomIds(): string {
  if (used === random.length) {
    crypto.getRandomValues(random);
    used = 0;
  }
  for (let id = 0; id < BATCH; id++, used += BYTES) {
    random[used + 6] = (random[used + 6]! & 0x0f) | 0x40;
    random[used + 8] = (random[used + 8]! & 0x3f) | 0x80;
    for (let at = 0; at < BYTES; at++)
      written.setUint16(id * LENGTH + PLACES[at]!, DIGITS[random[used + at]!]!);
  }
  return decoder.decode(written);
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
  const header = headerName(options.header ?? "x-request-id");
  const ids = new Slot<string>();
  const of = (request: Controller | Exchange): string => {
    const known = ids.get(request);
    if (known !== undefined) return known;
    const sent = trust ? givenBy(request, header) : undefined;
    const id = sent !== undefined && ACCEPTABLE.test(sent) ? sent : generate();
    ids.set(request, id);
    return id;
  };
  // Only an id from the option `generate` may have characters that a header cannot contain. The check takes 0.4 % of a
  // request's CPU.
  const onAnswer =
    generate === randomId
      ? (exchange: Exchange) => exchange.headers.replace(header, of(exchange))
      : (exchange: Exchange) => exchange.headers.set(header, of(exchange));
  return { of, onAnswer };
}

function givenBy(request: Controller | Exchange, header: string): string | undefined {
  return "header" in request ? request.header(header) : (request.headers.get(header) ?? undefined);
}
