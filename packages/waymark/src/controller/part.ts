import type { Answer } from "../http/answer.ts";
import type { Exchange } from "./exchange.ts";

/** The rest of a request's way: the parts that come later, and the controller. Never throws, never rejects. */
export type Next = () => Answer | Promise<Answer>;

/**
 * Hooks that see every request and every answer: errors, 404 and 405, and the answers of the application itself. An
 * application takes parts with the option `use`. All hooks are optional.
 */
export interface Part {
  /** Runs before the request is routed. If it returns or throws a `Response`, that is the answer. */
  onRequest?(exchange: Exchange): unknown;
  /** Runs around the request: before it is routed, until its answer is known. Returns the answer of `next()`. */
  around?(exchange: Exchange, next: Next): Answer | Promise<Answer>;
  /** Runs when the answer is known and nothing of it is sent. May change its headers, or replace its body. */
  onAnswer?(exchange: Exchange): unknown;
  /** Runs once, when the body was passed to the server, or was given up. */
  onEnd?(exchange: Exchange): unknown;
  /** Runs when the application has stopped. */
  onStop?(): unknown;
}
