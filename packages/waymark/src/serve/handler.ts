import type { Answer } from "../http/answer.ts";
import type { Incoming } from "../http/incoming.ts";

/** The part of an application that an adapter needs to serve its requests. */
export interface RequestHandler {
  /** Answers one request. Never throws, never rejects. */
  handle(incoming: Incoming): Answer | Promise<Answer>;
  /** Logs an error that occurs after the answer has begun. */
  report(error: unknown, request: Pick<Incoming, "method" | "target">): void;
}

/** The part of an application that a server needs to start and stop it. */
export interface Lifecycle {
  /** Loads the controllers and runs `onStart`. Rejects if the application cannot start. */
  ready(): Promise<unknown>;
  /** Runs `onStop`. */
  stop(): Promise<void>;
}
