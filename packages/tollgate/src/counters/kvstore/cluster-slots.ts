import type { Endpoint } from "../transport/endpoint.ts";
import { ErrorReply, type Reply } from "./resp/reply.ts";
import { SLOT_COUNT } from "./slots.ts";

export interface SlotRange {
  readonly from: number;
  /** Included. */
  readonly to: number;
  readonly master: Endpoint;
}

/**
 * Parses the reply to CLUSTER SLOTS: `[[from, to, [host, port, ...] of the master, replicas...], ...]`. An empty or
 * missing host means the server that answered.
 * @throws {Error} for any other reply
 */
export function readSlots(reply: Reply, asked: Endpoint): readonly SlotRange[] {
  if (reply instanceof ErrorReply) throw new Error(`the server refused CLUSTER SLOTS: ${reply.message}`);
  if (!Array.isArray(reply)) throw new Error("the reply to CLUSTER SLOTS is not a list");
  return reply.map((range: Reply) => {
    const [from, to, master] = Array.isArray(range) ? range : [];
    const [host, port] = Array.isArray(master) ? master : [];
    if (!isSlot(from) || !isSlot(to) || typeof port !== "number")
      throw new Error("the reply to CLUSTER SLOTS has a range without slots or master");
    const own = "host" in asked ? asked.host : "localhost";
    return { from, to, master: { host: typeof host === "string" && host !== "" ? host : own, port } };
  });
}

/**
 * Parses `MOVED 866 host:port` and `ASK 866 host:port`. An empty host means the server that answered.
 * @returns undefined for anything else
 */
export function readRedirection(
  error: ErrorReply,
  asked: Endpoint,
): { readonly slot: number; readonly target: Endpoint } | undefined {
  const [, slot, host, port] = /^\w+ (\d{1,5}) (\S*):(\d{1,5})$/.exec(error.message) ?? [];
  if (!isSlot(Number(slot)) || !(Number(port) > 0 && Number(port) < 65_536)) return undefined;
  const own = "host" in asked ? asked.host : "localhost";
  return { slot: Number(slot), target: { host: host === "" ? own : host!, port: Number(port) } };
}

function isSlot(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < SLOT_COUNT;
}
