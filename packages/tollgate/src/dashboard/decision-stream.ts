import type { DecisionFeed, SampledDecision } from "../observe/decision-log/decision-feed.ts";

/** Streams at the same time. */
export const MAX_STREAMS = 16;
/** Characters of decisions that wait for one viewer. Decisions that do not fit are counted. */
const MAX_WAITING = 256 * 1024;
/** Descriptors of a decision that are sent. */
const MAX_DESCRIPTORS = 10;
/** Milliseconds between two events. An event without decisions shows that the stream is alive. */
const INTERVAL = 250;
const ALIVE = 2000;
const MAX_FILTER = 200;

/** The decisions that a viewer wants to see. */
export interface DecisionFilter {
  /** Words that occur in the domain, the rule, its file or the entries, in any letter case. */
  readonly words: readonly string[];
  readonly refusedOnly: boolean;
}

export function decisionFilter({ filter, refused }: Readonly<Record<string, unknown>>): DecisionFilter {
  const text = typeof filter === "string" ? filter.slice(0, MAX_FILTER).toLowerCase() : "";
  return { words: text.split(/\s+/).filter((word) => word !== ""), refusedOnly: refused === "true" };
}

/** The decisions of the feed that a viewer asks for, with the text of each event as `text/event-stream` has it. */
export async function* decisionEvents(
  feed: DecisionFeed,
  filter: DecisionFilter,
  signal: AbortSignal,
  interval = INTERVAL,
): AsyncGenerator<string> {
  let waiting: string[] = [];
  let size = 0;
  let dropped = 0;
  const unsubscribe = feed.subscribe((decision) => {
    if (!fits(decision, filter)) return;
    const text = JSON.stringify({ ...decision, descriptors: decision.descriptors.slice(0, MAX_DESCRIPTORS) });
    if (size + text.length > MAX_WAITING) dropped++;
    else {
      waiting.push(text);
      size += text.length;
    }
  });
  try {
    yield "data: {}\n\n";
    let sent = performance.now();
    while (!signal.aborted) {
      await pause(interval, signal);
      const now = performance.now();
      if (waiting.length === 0 && dropped === 0 && now - sent < ALIVE) continue;
      const event = `data: {"decisions":[${waiting.join(",")}],"dropped":${dropped}}\n\n`;
      waiting = [];
      size = 0;
      dropped = 0;
      sent = now;
      yield event;
    }
  } finally {
    unsubscribe();
  }
}

/** Whether a viewer asked for a decision. */
export function fits(decision: SampledDecision, { words, refusedOnly }: DecisionFilter): boolean {
  if (refusedOnly && decision.code !== "OVER_LIMIT") return false;
  if (words.length === 0) return true;
  const text = decision.descriptors
    .map(
      ({ entries, rule = "", file = "" }) =>
        `${rule} ${file} ${entries.map((pair) => pair.join("=")).join(" ")}`,
    )
    .join(" ");
  const all = `${decision.domain} ${decision.code} ${text}`.toLowerCase();
  return words.every((word) => all.includes(word));
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", done);
  });
}
