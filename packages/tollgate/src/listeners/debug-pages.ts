import { Readable } from "node:stream";
import { Controller, HttpError } from "@tollway/waymark";
import type { DecisionExplanation } from "../decision/explain-decision.ts";
import { limitLines } from "../decision/limits-text.ts";
import { type Level, type Logger, levelOfName, logLevels } from "../observe/log.ts";
import type { OtherThreads, ProfileKind } from "../observe/profiling/profiler.ts";
import type { Registry } from "../observe/registry.ts";
import { FilterError } from "../observe/stats-page.ts";
import type { TopKeys } from "../observe/top-keys/top-keys.ts";
import { topKeysText } from "../observe/top-keys/top-keys-text.ts";
import { changeLine, changesOf } from "../overrides/dump.ts";
import type { ActiveOverrides } from "../overrides/table.ts";
import type { RateLimitRequest } from "../protocol/messages.ts";
import { dumpJson, dumpText } from "../rules/dump.ts";
import { renderExplanation } from "../rules/explain-text.ts";
import type { RuleSet } from "../rules/rule.ts";
import { explainUsage, requestOfQuery } from "./explain-query.ts";
import type { ControllerTable } from "./http-listener.ts";
import { httpErrorOf } from "./http-pages.ts";
import type { RateLimitHandler } from "./rate-limit-handler.ts";
import { type Caller, hideValues, readTopQuery } from "./top-keys-query.ts";

const TEXT_TYPE = "text/plain; charset=utf-8";
const JSON_TYPE = "application/json; charset=utf-8";

export interface DebugPagesOptions {
  readonly ruleSet: () => RuleSet | undefined;
  readonly overrides: ActiveOverrides | undefined;
  readonly registry: Registry;
  readonly topKeys: TopKeys;
  /** Whether a caller may see values of requests. */
  readonly showsKeys: (caller: Caller) => boolean;
  readonly log: Logger;
  readonly setLogLevel: (level: Level) => void;
  readonly handler: RateLimitHandler;
  readonly explain: (request: RateLimitRequest) => Promise<DecisionExplanation>;
  /** Profiles of the other threads. */
  readonly otherThreads: OtherThreads;
  /** `DEBUG_PROFILES` */
  readonly profiles: boolean;
  /** `DEBUG_WRITES` */
  readonly writes: boolean;
  /** Undefined if `DEBUG_DASHBOARD` is off. */
  readonly dashboard: DashboardParts | undefined;
}

/** The pages that the dashboard adds to the port. */
export interface DashboardParts {
  /** The page at `/` for a browser, by its `Accept`; undefined for other callers. */
  readonly home: (
    accept: string | null,
  ) => Promise<{ readonly body: string; readonly headers: Readonly<Record<string, string>> } | undefined>;
  /** The pages under `/dashboard`. */
  readonly controllers: ControllerTable;
}

/** The pages of the debug port; `/` lists them. Most pages answer JSON to `Accept: application/json`. */
export function debugPages({
  ruleSet,
  overrides,
  registry,
  topKeys,
  showsKeys,
  log,
  setLogLevel,
  handler,
  explain,
  otherThreads,
  profiles,
  writes,
  dashboard,
}: DebugPagesOptions): ControllerTable {
  class Page extends Controller {
    static override private = true;

    protected text(body: string): string {
      this.response.headers.set("content-type", TEXT_TYPE);
      return body;
    }

    protected get wantsJson(): boolean {
      return this.headers.get("accept")?.includes("application/json") ?? false;
    }
  }

  class Default extends Page {
    async GET() {
      this.response.headers.set("vary", "accept");
      const page = await dashboard?.home(this.headers.get("accept"));
      if (page === undefined) return this.text(listing(indexOf(profiles, writes)));
      for (const [name, value] of Object.entries(page.headers)) this.response.headers.set(name, value);
      return page.body;
    }
  }

  class Rlconfig extends Page {
    GET() {
      const changed = changesOf(overrides, ruleSet());
      if (!this.wantsJson) return this.text(dumpText(ruleSet()) + changed.map(changeLine).join(""));
      return { ...dumpJson(ruleSet()), ...(changed.length > 0 && { overrides: changed }) };
    }
  }

  class Stats extends Page {
    GET({ ...keywords }) {
      const filter = (keywords as Record<string, unknown>).filter;
      const json = this.wantsJson;
      try {
        const pieces = registry.snapshot({ json, ...(typeof filter === "string" && { filter }) });
        this.response.headers.set("content-type", json ? JSON_TYPE : TEXT_TYPE);
        // A Node stream, because Waymark writes the values of a generator as JSON lines.
        return Readable.from(pieces);
      } catch (error) {
        if (!(error instanceof FilterError)) throw error;
        throw new HttpError(400, error.message, {
          errors: [{ in: "query", name: "filter", message: error.message }],
        });
      }
    }
  }

  class Top extends Page {
    async GET() {
      const { searchParams } = new URL(this.request.url);
      if (!topKeys.enabled) throw new HttpError(404, "top keys are turned off: TOP_KEYS is false");
      const { n, rule, refused } = readTopQuery(searchParams);
      const snapshot = await topKeys.snapshot({ n, rule });
      const shown = showsKeys(this) ? snapshot : hideValues(snapshot);
      if (this.wantsJson) return refused ? { from: shown.from, to: shown.to, refused: shown.refused } : shown;
      return this.text(topKeysText(shown, refused));
    }
  }

  class Explain extends Page {
    static override bodyLimit = handler.maxRequestBytes;

    GET() {
      const request = requestOfQuery(new URL(this.request.url).searchParams);
      return request === undefined ? this.text(explainUsage) : this.#answer(() => request);
    }

    async POST() {
      const bytes = await this.bytes();
      return this.#answer(() => handler.decodeJson(bytes));
    }

    async #answer(read: () => RateLimitRequest) {
      let explanation: DecisionExplanation;
      try {
        explanation = await explain(read());
      } catch (error) {
        throw httpErrorOf(error, handler);
      }
      return this.wantsJson ? explanation : this.text(renderDecision(explanation));
    }
  }

  class LogLevel extends Page {
    GET() {
      return this.text(`${log.level}\n`);
    }

    async PUT() {
      if (!writes) throw new HttpError(403, "the log level cannot be changed here: DEBUG_WRITES is false");
      const name = new TextDecoder().decode(await this.bytes()).trim();
      const level = levelOfName(name);
      if (level === undefined) {
        throw new HttpError(
          400,
          `the body must be one of ${logLevels.join(", ")}, not ${JSON.stringify(name.slice(0, 40))}`,
        );
      }
      setLogLevel(level);
      log.warn(`log level set to ${level} through the debug port`);
      return this.text(`${level}\n`);
    }
  }

  function requireProfiles(): void {
    if (!profiles) throw new HttpError(403, "profiles are turned off: DEBUG_PROFILES is false");
  }

  const profile = (kind: ProfileKind) =>
    class Profile extends Page {
      async GET({ ...keywords }) {
        requireProfiles();
        const seconds = (keywords as Record<string, unknown>).seconds;
        const { takeProfile, ProfileError } = await import("../observe/profiling/profiler.ts");
        try {
          const text = seconds === undefined ? undefined : String(seconds);
          const { body, contentType, fileName } = await takeProfile(kind, text, this.signal, otherThreads);
          this.response.headers.set("content-type", contentType);
          this.response.headers.set("content-disposition", `attachment; filename="${fileName}"`);
          return body;
        } catch (error) {
          if (!(error instanceof ProfileError)) throw error;
          throw new HttpError(error.code === "PROFILE_BUSY" ? 409 : 400, error.message);
        }
      }
    };

  class Profiles extends Page {
    GET() {
      requireProfiles();
      return this.text(listing(profilePages));
    }
  }

  const pprof = {
    Default: Profiles,
    Profile: profile("profile"),
    Heap: profile("heap"),
    Wall: profile("wall"),
    Trace: profile("trace"),
  };
  return {
    ...{ Default, Rlconfig, stats: { Default: Stats, Top }, Explain, LogLevel, debug: { pprof } },
    ...(dashboard && { dashboard: dashboard.controllers }),
  };
}

type Listing = readonly (readonly [path: string, meaning: string])[];

function listing(pages: Listing): string {
  return pages.map(([path, meaning]) => `${path}: ${meaning}\n`).join("");
}

const profilePages: [path: string, meaning: string][] = [
  ["/debug/pprof/heap?seconds=5", "memory allocated meanwhile and still in use, for go tool pprof"],
  ["/debug/pprof/profile?seconds=30", "CPU time by function, for go tool pprof"],
  [
    "/debug/pprof/trace?seconds=1",
    "events of the engine and the event loop, as trace-event JSON, for Perfetto or chrome://tracing",
  ],
  ["/debug/pprof/wall?seconds=30", "time by function, idle time included, for go tool pprof"],
];

const indexOf = (profiles: boolean, writes: boolean): Listing => [
  ...(profiles ? ([["/debug/pprof/", "profiles"], ...profilePages] as const) : []),
  [
    "/explain",
    "which rule matches each descriptor and why, without counting: ?domain=D&descriptor=K=V,K2=V2, or POST the body of a /json call",
  ],
  ["/log-level", writes ? "the log level; PUT another name to change it" : "the log level"],
  ["/rlconfig", "the current configuration"],
  ["/stats", "statistics; ?filter=<regular expression> for some of them"],
  [
    "/stats/top",
    "the keys with the most hits, and the most refused ones; ?rule=<rule>, ?refused for the refused ones only, ?n=<keys of each list>",
  ],
];

function renderDecision({ overallCode, descriptors }: DecisionExplanation): string {
  const parts = descriptors.map((descriptor) => {
    const { cacheKey, window, count, hits, answer } = descriptor;
    const lines = [renderExplanation(descriptor).trimEnd()];
    if (descriptor.replaced) lines.push("replaced   by another rule that this request matches");
    if (cacheKey !== undefined) lines.push(`cache key  ${cacheKey}`);
    if (window !== undefined) {
      const from = new Date(window.start * 1000).toISOString().slice(0, 19);
      lines.push(`window     ${window.unit} from ${from}Z, ends in ${window.secondsUntilReset} s`);
    }
    if (count !== undefined) lines.push(`count      ${count} now`);
    lines.push(...limitLines(descriptor.limits ?? []));
    lines.push(
      `answer     ${answer.code}, ${answer.limitRemaining} left, for ${hits} ${hits === 1 ? "hit" : "hits"}`,
    );
    return lines.join("\n");
  });
  return `${parts.join("\n\n")}\n\noverall    ${overallCode}\n`;
}
