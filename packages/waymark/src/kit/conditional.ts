import type { Controller } from "../controller/controller.ts";
import type { Exchange } from "../controller/exchange.ts";
import type { Part } from "../controller/part.ts";
import { isStream } from "../http/answer.ts";
import { HttpError } from "../http/http-error.ts";
import { toText } from "./sealing.ts";

/**
 * Answers 304 to clients that have the current answer. Adds an ETag to answers of GET that are in memory and have none.
 * @example
 * ```ts
 * import { Application } from "@tollway/waymark";
 * import { etag } from "@tollway/waymark/kit";
 *
 * export const application = new Application({ use: [etag()] });
 * ```
 */
export function etag(): Part {
  return {
    onAnswer(exchange) {
      const { method, status, headers, body } = exchange;
      if ((method !== "GET" && method !== "HEAD") || status !== 200) return;
      if (headers.has("etag") || body === null || isStream(body) || isUnstored(exchange))
        return notModified(exchange);
      return hash(body).then((tag) => {
        headers.set("etag", `"${tag}"`);
        notModified(exchange);
      });
    },
  };
}

/** A client that keeps nothing has nothing to compare. */
function isUnstored({ headers }: Exchange): boolean {
  return /\bno-store\b/i.test(headers.get("cache-control") ?? "");
}

/** RFC 9110 section 13.2.2: the ETag counts, and the date only without it. */
function notModified(exchange: Exchange): void {
  const { headers } = exchange;
  const tags = exchange.header("if-none-match");
  const tag = headers.get("etag");
  if (tags !== undefined) {
    if (tag !== null && lists(tags, tag, false)) exchange.withoutContent(304);
    return;
  }
  const since = dateOf(exchange.header("if-modified-since"));
  const modified = dateOf(headers.get("last-modified") ?? undefined);
  if (since !== undefined && modified !== undefined && modified <= since) exchange.withoutContent(304);
}

function dateOf(text: string | undefined): number | undefined {
  // Other formats are obsolete, and `Date.parse` accepts many texts that are not HTTP dates.
  if (text === undefined || !/^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

/** One entity tag, and the comma after it. */
const TAG = /\s*(W\/)?("[\x21\x23-\x7e\x80-\xff]*")\s*(?:,|$)/y;

/** Whether a list of entity tags contains one. A strong comparison accepts no weak tag (RFC 9110 section 8.8.3.2). */
export function lists(list: string, tag: string, strong: boolean): boolean {
  if (list.trim() === "*") return true;
  const isWeak = tag.startsWith("W/");
  if (strong && isWeak) return false;
  const opaque = isWeak ? tag.slice(2) : tag;
  const expression = new RegExp(TAG);
  for (let found = expression.exec(list); found !== null && found[0] !== ""; found = expression.exec(list))
    if (found[2] === opaque && !(strong && found[1] !== undefined)) return true;
  return false;
}

/**
 * The strong ETag of a value of JSON, a text or bytes: the same value has the same tag.
 * @example
 * ```ts
 * import { tagOf } from "@tollway/waymark/kit";
 *
 * console.log(await tagOf({ id: 1, title: "Emma" })); // "wWJdnrZJb4kWzMHAr_SoSQ", with its quotes
 * ```
 */
export async function tagOf(value: unknown): Promise<string> {
  const body = typeof value === "string" || value instanceof Uint8Array ? value : textOf(value);
  return `"${await hash(body)}"`;
}

function textOf(value: unknown): string {
  const text = JSON.stringify(value, (_, each) => (typeof each === "bigint" ? String(each) : each));
  if (text === undefined) throw new TypeError("only a value of JSON, a text or bytes have an ETag");
  return text;
}

/** 128 bits of SHA-256. */
async function hash(body: string | Uint8Array): Promise<string> {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const digest = await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return toText(new Uint8Array(digest, 0, 16));
}

/** Options of {@link checkMatch}. */
export interface MatchOptions {
  /** Answers 428 to a request without a precondition. Default true. */
  readonly required?: boolean;
}

/**
 * Lets a change through only if the client has seen the current state. `tag` is the ETag of that state, or undefined if
 * there is none. Throws 412 if the client has seen another one, and 428 if it does not say what it has seen.
 * @example
 * ```ts
 * import { Controller } from "@tollway/waymark";
 * import { checkMatch, tagOf } from "@tollway/waymark/kit";
 *
 * let book = { title: "Emma" };
 *
 * export class Books extends Controller {
 *   async PUT({ title }: { title: string }) {
 *     checkMatch(this, await tagOf(book));
 *     book = { title };
 *   }
 * }
 * ```
 */
export function checkMatch(
  controller: Controller,
  tag: string | undefined,
  { required = true }: MatchOptions = {},
): void {
  const seen = controller.headers.get("if-match");
  if (seen !== null) {
    const isCurrent = tag !== undefined && lists(seen, tag, true);
    if (!isCurrent) throw stale("the resource has changed since you read it: read it again", tag);
  }
  const unseen = controller.headers.get("if-none-match");
  if (unseen !== null && tag !== undefined && lists(unseen, tag, false))
    throw stale("the resource exists already", tag);
  if (required && seen === null && unseen === null)
    throw new HttpError(428, "send if-match with the ETag of the state that you want to change");
}

function stale(detail: string, tag: string | undefined): HttpError {
  return new HttpError(412, detail, tag === undefined ? {} : { headers: { etag: tag } });
}
