/**
 * The windows that had begun before the log did. Their counters were not empty, and the log says how many hits they had:
 * the counter after the first recorded request. Without these hits, a daily limit that was used up in the morning would
 * seem to let a log of the afternoon pass.
 */
import { hash } from "node:crypto";
import { createKeyFormat } from "../decision/key-format.ts";
import type { Prepared } from "../decision/prepared.ts";
import type { Unit } from "../protocol/messages.ts";
import { unitOfName, windowSeconds } from "../protocol/units.ts";
import { ruleKey } from "../simulate/rule-key.ts";
import type { RecordedDescriptor } from "./recorded.ts";

/** Counters that are remembered. Those beyond start empty. */
const MAX_COUNTERS = 1_000_000;

/** The format of the simulation's keys. */
const keyFormat = createKeyFormat({ format: "tollgate", prefix: "", backend: "embedded" });
/** Longer keys are hashed. */
const LONGEST_KEY = 200;
const unshared = { sharedValues: undefined };

export class FirstWindows {
  /** The recorded counters, as cache keys without the window. */
  readonly #seen = new Set<string>();
  #seeded = 0;

  get seeded(): number {
    return this.#seeded;
  }

  /**
   * The hits that a counter had before its first recorded request. 0 for all later requests, for another rule or unit than
   * the recorded one, and for all algorithms but a plain fixed window.
   * @param now milliseconds since the epoch
   * @param first the time of the first recorded request
   */
  priorHits(
    domain: string,
    part: Prepared["parts"][number],
    recorded: RecordedDescriptor,
    now: number,
    first: number,
  ): number {
    const unit = unitOfName(recorded.unit ?? "");
    if (unit === undefined) return 0;
    const windowStart = now - (now % (windowSeconds[unit]! * 1000));
    if (windowStart > first || this.#seen.size >= MAX_COUNTERS) return 0;
    const isSame = isSameCounter(part, recorded, unit);
    const key = isSame ? part.resolution.stem : keyFormat(domain, recorded.entries, unshared, unit);
    const counter = key.length > LONGEST_KEY ? hash("sha256", key) : key;
    if (this.#seen.has(counter)) return 0;
    this.#seen.add(counter);
    const prior = isSame ? hitsBefore(recorded) : 0;
    if (prior > 0) this.#seeded++;
    return prior;
  }
}

function isSameCounter(
  { resolution: { rule, limits, stem } }: Prepared["parts"][number],
  { rule: recordedRule, override }: RecordedDescriptor,
  unit: Unit,
): boolean {
  if (rule === undefined || limits !== undefined || stem === "" || rule.unit !== unit) return false;
  return override !== undefined || recordedRule === ruleKey(rule);
}

function hitsBefore({ count, hits, isRefused, hasReset, limit = 0 }: RecordedDescriptor): number {
  if (count !== undefined) return Math.max(0, count - hits);
  // The over-limit cache answers without a count. The counter was above the limit then.
  return isRefused && hasReset ? limit : 0;
}
