import { type ApplicationOptions, Controller, HttpError } from "@tollway/waymark";
import type { DecisionFeed } from "../observe/decision-log/decision-feed.ts";
import { decisionEvents, decisionFilter, MAX_STREAMS } from "./decision-stream.ts";
import type { LoadLog } from "./load-log.ts";
import type { SourceText } from "./messages.ts";
import { type Monitor, TooManyViewersError } from "./monitor.ts";
import { isForeign, keysFor, ruleQuery } from "./viewer.ts";

export interface DashboardPagesOptions {
  readonly monitor: Monitor;
  readonly loads: LoadLog;
  readonly feed: DecisionFeed;
  /** Whether an `Authorization` header has a credential of the admin API. */
  readonly accepts: (authorization: string | null) => boolean;
  /** Lines of a file of the configuration around `line`; undefined if the configuration has no such file. */
  readonly readSource: (file: string, line: number) => Promise<SourceText | undefined>;
}

/** The pages under `/dashboard`, which the page at `/` reads. */
export function dashboardPages({
  monitor,
  loads,
  feed,
  accepts,
  readSource,
}: DashboardPagesOptions): NonNullable<ApplicationOptions["controllers"]> {
  let streams = 0;

  class Page extends Controller {
    static override private = true;

    override before(): void {
      if (isForeign(this)) throw new HttpError(403, "only the dashboard's own page may read this");
      this.response.headers.set("cache-control", "no-store");
    }
  }

  /** A frame each second. */
  class Events extends Page {
    GET({ ...keywords }) {
      if (!this.headers.get("accept")?.includes("text/event-stream"))
        throw new HttpError(406, "this is a stream of events: Accept must name text/event-stream");
      return answering(monitor.watch(ruleQuery(keywords), keysFor(this, accepts), this.signal));
    }
  }

  /** One frame. */
  class State extends Page {
    async GET({ ...keywords }) {
      for await (const frame of answering(
        monitor.watch(ruleQuery(keywords), keysFor(this, accepts), this.signal),
      ))
        return frame;
      throw new HttpError(503, "the service is stopping");
    }
  }

  /** Sampled decisions as they happen. */
  class Decisions extends Page {
    GET({ ...keywords }) {
      if (!this.headers.get("accept")?.includes("text/event-stream"))
        throw new HttpError(406, "this is a stream of events: Accept must name text/event-stream");
      const { shown, reason } = keysFor(this, accepts);
      if (!shown) throw new HttpError(403, reason ?? "keys are hidden");
      if (streams >= MAX_STREAMS)
        throw new HttpError(503, `${MAX_STREAMS} viewers watch decisions, the most that one process serves`);
      return counted(decisionEvents(feed, decisionFilter(keywords), this.signal));
    }
  }

  async function* counted(events: AsyncGenerator<string>): AsyncGenerator<string> {
    streams++;
    try {
      yield* events;
    } finally {
      streams--;
    }
  }

  class Loads extends Page {
    GET() {
      return loads.entries;
    }
  }

  class Source extends Page {
    async GET({ ...keywords }) {
      const { file, line } = keywords as Record<string, unknown>;
      if (typeof file !== "string" || file === "") throw new HttpError(400, "file: is missing");
      const text = await readSource(file, Number(line) || 1);
      if (text === undefined)
        throw new HttpError(404, "the configuration has no such file, or its text must not be shown");
      return text;
    }
  }

  return { Events, State, Decisions, Loads, Source };
}

/** Turns the monitor's refusal into an answer. */
async function* answering<Value>(frames: AsyncGenerator<Value>): AsyncGenerator<Value> {
  try {
    yield* frames;
  } catch (error) {
    if (error instanceof TooManyViewersError) throw new HttpError(503, error.message);
    throw error;
  }
}
