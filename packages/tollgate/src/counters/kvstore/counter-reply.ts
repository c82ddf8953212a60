import { MAX_COUNT } from "../store.ts";
import { ErrorReply, type Reply, toInteger } from "./resp/reply.ts";

const OVERFLOW_MESSAGE = "ERR increment or decrement would overflow";

/** The counter before hits were added, from a reply that is not a plain number. */
export function counterBefore(reply: Reply, added: number): number | ErrorReply {
  if (reply === null) return 0;
  if (typeof reply === "string") return counterOf(reply);
  if (reply instanceof ErrorReply) return reply.message === OVERFLOW_MESSAGE ? MAX_COUNT : reply;
  if (typeof reply === "bigint") return Number(reply - BigInt(added));
  return new ErrorReply("ERR the reply is not a number");
}

/** The reply to a GET. */
function counterOf(text: string): number | ErrorReply {
  try {
    return Number(toInteger(text));
  } catch {
    return new ErrorReply("ERR value is not an integer or out of range");
  }
}
