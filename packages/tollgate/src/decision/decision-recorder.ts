import { hashOfText } from "../counters/stem-hash.ts";
import type { SampledDecision, SampledDescriptor } from "../observe/decision-log/decision-feed.ts";
import type { Sampling } from "../observe/decision-log/sampling.ts";
import type { KeyMask } from "../observe/key-mask.ts";
import { Code, type DescriptorStatus, type Entry } from "../protocol/messages.ts";
import { codeNames, unitNames } from "../protocol/units.ts";
import { printable } from "../text/printable.ts";
import type { DecidedText } from "./decided-text.ts";
import type { PreparedPart } from "./prepared.ts";
import type { Scratch } from "./scratch.ts";
import { hashOfStem } from "./stem-of-part.ts";

export interface Counters {
  /** A counter after the request; undefined if the store did not count. @param index among the parts that are counted */
  countAfter(index: number): number | undefined;
}

/** The results of a decision that has ended. */
export interface Ended {
  readonly parts: readonly PreparedPart[];
  /** One for each part. */
  readonly statuses: readonly DescriptorStatus[];
  readonly code: Code;
  readonly scratch: Scratch;
  readonly text: DecidedText;
  readonly counters: Counters;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Whether the store answered later, so that only chosen messages were kept. */
  readonly isKept: boolean;
}

export interface RecorderOptions {
  readonly sampling: Sampling;
  readonly mask: KeyMask;
  /** Takes a line of the log, without its line end. */
  readonly write: (line: string) => void;
}

/** Hashes of sampled keys have no random seed, so that all replicas and all runs choose the same keys. */
const SEED = 0;

/** Writes sampled decisions and refusals of one thread as lines of the log. */
export class DecisionRecorder {
  readonly #options: RecorderOptions;
  /** Whether anything reads the lines. */
  active = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  record(ended: Ended): void {
    const { parts, now, scratch } = ended;
    // 0: the recording began after the decision.
    const { began } = scratch;
    const { sampling, write } = this.#options;
    const sampled = parts.map((part, index) => sampling.has(hashOf(part, index, ended)));
    const isSampled = sampled.includes(true);
    if (!isSampled && (ended.code !== Code.OVER_LIMIT || !sampling.takeRefusal(now))) return;
    let counted = 0;
    const descriptors = parts.map((part, index) => {
      const { rule } = part.resolution;
      const isCounted = rule !== undefined && !rule.unlimited;
      return this.#descriptor(ended, index, sampled[index]!, isCounted ? counted++ : undefined);
    });
    const decision: SampledDecision = {
      time: new Date(now).toISOString(),
      rate: sampling.rate,
      reason: isSampled ? "sample" : "refusal",
      domain: printable(ended.text.domain),
      code: nameOf(ended.code),
      duration_us: began === 0 ? 0 : Math.round((performance.now() - began) * 1000),
      descriptors,
    };
    write(JSON.stringify(decision));
  }

  #descriptor(
    { parts, statuses, text, counters }: Ended,
    index: number,
    sampled: boolean,
    counted: number | undefined,
  ): SampledDescriptor {
    const { resolution, hits } = parts[index]!;
    const { observed, rule } = resolution;
    const { code, currentLimit, limitRemaining, durationUntilReset } = statuses[index]!;
    const common = {
      entries: this.#options.mask.entries(text.entries(index)),
      hits,
      sampled,
      ...(observed !== undefined && {
        rule: observed.rule,
        ...(observed.file !== "" && { file: observed.file }),
      }),
      code: nameOf(code),
    };
    if (counted === undefined || currentLimit === undefined || rule === undefined) return common;
    const count = counters.countAfter(counted);
    return {
      ...common,
      limit: {
        requests_per_unit: currentLimit.requestsPerUnit,
        unit: unitNames[currentLimit.unit].toLowerCase(),
        ...(currentLimit.unitMultiplier !== undefined && { unit_multiplier: currentLimit.unitMultiplier }),
      },
      ...(count !== undefined && { count }),
      remaining: limitRemaining,
      reset: durationUntilReset,
    };
  }
}

function hashOf(part: PreparedPart, index: number, { scratch, text }: Ended): number {
  return hashOfStem(part, scratch, SEED) ?? hashOfText(uncounted(text.domain, text.entries(index)), SEED);
}

/** In place of the key of a descriptor without a counter. */
function uncounted(domain: string, entries: readonly Entry[]): string {
  return JSON.stringify([domain, ...entries.map(({ key, value }) => [key, value])]);
}

function nameOf(code: Code): SampledDecision["code"] {
  return codeNames[code] === "OVER_LIMIT" ? "OVER_LIMIT" : "OK";
}
