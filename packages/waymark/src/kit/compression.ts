import type { Exchange } from "../controller/exchange.ts";
import type { Part } from "../controller/part.ts";
import { isContentless, isStream, type StreamBody } from "../http/answer.ts";
import { compressedBytes, compressedStream, ENCODINGS, type Encoding } from "./encoders.ts";
import { negotiate } from "./negotiate.ts";

/** Options of {@link compression}. */
export interface CompressionOptions {
  /** Bytes below which an answer is not compressed. Default 1024. */
  readonly threshold?: number;
  /** Encodings in the order of preference. Default: those that the runtime has, of `br`, `gzip` and `deflate`. */
  readonly encodings?: readonly Encoding[];
  /** True leaves an answer alone, such as one with a secret beside text of the client (the BREACH attack). */
  readonly skip?: (exchange: Exchange) => boolean;
}

/** Types whose content becomes smaller. Images, archives and video are compressed already. */
const TEXT =
  /^\s*(text\/(?!event-stream)[\w.+-]+|[\w.+-]+\/([\w.-]+\+)?(json|xml|yaml|text)|application\/(javascript|x-ndjson|wasm|x-www-form-urlencoded)|image\/(svg\+xml|bmp)|font\/(ttf|otf|collection))\s*(;|$)/i;

/**
 * Compresses answers for clients that accept it. Event streams stay as they are, because an event must arrive at once.
 * @example
 * ```ts
 * import { Application } from "@tollway/waymark";
 * import { compression } from "@tollway/waymark/kit";
 *
 * export const application = new Application({ use: [compression({ skip: ({ path }) => path === "/token" })] });
 * ```
 */
export function compression(options: CompressionOptions = {}): Part {
  const { threshold = 1024, skip } = options;
  const encodings = options.encodings ?? ENCODINGS;
  const unknown = encodings.find((each) => !ENCODINGS.includes(each));
  if (unknown !== undefined) throw new TypeError(`this runtime cannot compress with ${unknown}`);
  return {
    onAnswer(exchange) {
      if (!isCompressible(exchange) || skip?.(exchange) === true) return undefined;
      const { headers, body } = exchange;
      headers.vary("Accept-Encoding");
      const length = headers.get("content-length");
      if (length !== null && Number(length) < threshold) return undefined;
      const encoding = negotiate(exchange.header("accept-encoding"), encodings);
      if (encoding === undefined) return undefined;
      weaken(exchange);
      headers.set("content-encoding", encoding);
      headers.delete("accept-ranges");
      if (exchange.method === "HEAD") return void headers.delete("content-length");
      if (isStream(body)) return exchange.replaceBody(compressedStream(body as StreamBody, encoding));
      return compressedBytes(body!, encoding).then((bytes) => exchange.replaceBody(bytes));
    },
  };
}

function isCompressible({ body, method, status, headers }: Exchange): boolean {
  if ((body === null && method !== "HEAD") || isContentless(status) || status === 206) return false;
  if (headers.has("content-encoding") || headers.has("content-range")) return false;
  if (/\bno-transform\b/i.test(headers.get("cache-control") ?? "")) return false;
  return TEXT.test(headers.get("content-type") ?? "");
}

/** The bytes differ from those of the tag, so a range of them must not be combined with others (RFC 9110 section 8.8.1). */
function weaken({ headers }: Exchange): void {
  const tag = headers.get("etag");
  if (tag !== null && !tag.startsWith("W/")) headers.set("etag", `W/${tag}`);
}
