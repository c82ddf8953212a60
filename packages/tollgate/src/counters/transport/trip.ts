import type { CallTrace, TraceAttributes, TraceSpan, Tracing } from "../../observe/tracing/tracing.ts";
import type { Ticket } from "./ticket.ts";

/** Starts a span for one round trip, linked to its recorded calls. Without recorded calls there is no span. */
export function startTrip(
  tracing: Tracing,
  name: string,
  all: readonly { readonly ticket: Ticket }[],
  attributes: TraceAttributes,
): TraceSpan | undefined {
  const calls = new Set<CallTrace>();
  for (const { ticket } of all) if (ticket.trace !== undefined && !ticket.done) calls.add(ticket.trace);
  return tracing.startRoundTrip(name, [...calls], attributes);
}
