/** Decides recorded decisions again, with the rules of a candidate, and compares. */
import { Code, type Descriptor, type RateLimitRequest } from "../protocol/messages.ts";
import type { Rule, RuleSet } from "../rules/rule.ts";
import { Simulation } from "../simulate/simulation.ts";
import { FirstWindows } from "./first-windows.ts";
import { FrequentKeys } from "./frequent-keys.ts";
import {
  DamagedLineError,
  parseDecision,
  type RecordedDecision,
  type RecordedDescriptor,
} from "./recorded.ts";
import { ReorderBuffer } from "./reorder-buffer.ts";
import { RuleChanges } from "./rule-changes.ts";
import { addTo, newSpan, type Span, Timeline } from "./timeline.ts";

export interface ReplayOptions {
  /** Bytes of the store for counters. */
  readonly storeBytes: number;
}

/** Lines that wait to be sorted: a line may come half as many lines too late. */
const MAX_WAITING = 8192;
const MAX_WAITING_BYTES = 16 * 1024 ** 2;
/** Changed keys that are kept, and their longest text. */
const MAX_KEYS = 10_000;
const LONGEST_KEY = 1000;
/** Spans of the timeline. */
const MAX_SPANS = 60;
/** Damaged lines that are named. */
const MAX_NAMED = 10;

export interface DamagedLine {
  readonly log: string;
  /** The number of the line, from 1. */
  readonly line: number;
  readonly reason: string;
}

export class Replay {
  readonly rules = new RuleChanges();
  readonly keys = new FrequentKeys(MAX_KEYS);
  readonly timeline = new Timeline(MAX_SPANS);
  /** All decisions together. */
  readonly sums: Span = newSpan();
  readonly damagedLines: DamagedLine[] = [];
  lines = 0;
  #log = "";
  #linesBefore = 0;
  damaged = 0;
  /** Lines without a sampled descriptor. */
  leftOut = 0;
  /** Decisions that were compared, not scaled. */
  decisions = 0;
  /** The smallest rate of a line that was compared. */
  lowestRate = 1;
  /** Milliseconds since the epoch. */
  first = 0;
  last = 0;
  readonly #simulation: Simulation;
  readonly #buffer: ReorderBuffer<RecordedDecision>;
  readonly #firstWindows = new FirstWindows();

  constructor(ruleSet: RuleSet, { storeBytes }: ReplayOptions) {
    const settings = { shadowMode: false, quotaMode: false, stopIncrementing: false };
    this.#simulation = new Simulation(ruleSet, settings, 0, storeBytes);
    this.#buffer = new ReorderBuffer(MAX_WAITING, MAX_WAITING_BYTES, (decision) => this.#decide(decision));
  }

  /** Decisions that came too late for their place in time. */
  get late(): number {
    return this.#buffer.late;
  }

  /** Counters that the full store dropped early. Above 0, the numbers are not exact. */
  get evicted(): number {
    return this.#simulation.evicted;
  }

  /** Counters whose hits before the log were taken from the log. */
  get seeded(): number {
    return this.#firstWindows.seeded;
  }

  /** Begins another log, for the places of damaged lines. */
  startLog(name: string): void {
    this.#log = name;
    this.#linesBefore = this.lines;
  }

  /** Takes one line of the log. @param bytes of the line */
  line(text: string, bytes: number): void {
    this.lines++;
    if (text.trim() === "") return;
    try {
      const decision = parseDecision(text);
      if (decision.descriptors.some(({ isSampled }) => isSampled)) this.#buffer.add(decision, bytes);
      else this.leftOut++;
    } catch (error) {
      if (!(error instanceof DamagedLineError)) throw error;
      this.#damage(error.message);
    }
  }

  tooLongLine(): void {
    this.lines++;
    this.#damage("the line is too long");
  }

  /** Decides the lines that still wait. */
  end(): void {
    this.#buffer.end();
  }

  #damage(reason: string): void {
    this.damaged++;
    if (this.damagedLines.length < MAX_NAMED)
      this.damagedLines.push({ log: this.#log, line: this.lines - this.#linesBefore, reason });
  }

  #decide(decision: RecordedDecision): void {
    const simulation = this.#simulation;
    const { clock } = simulation;
    if (this.decisions === 0) this.first = decision.time;
    clock.moveTo(decision.time);
    this.last = clock.now;
    const { domain, weight, descriptors } = decision;
    this.lowestRate = Math.min(this.lowestRate, 1 / weight);
    const request = requestOf(decision);
    // All descriptors take part in the search for rules, because a rule can replace another one of its request.
    const { parts: all } = simulation.prepare(request);
    const sampled = descriptors.filter(({ isSampled }) => isSampled);
    const parts = all.filter((_, index) => descriptors[index]!.isSampled);
    for (let index = 0; index < parts.length; index++) {
      const prior = this.#firstWindows.priorHits(
        domain,
        parts[index]!,
        sampled[index]!,
        clock.now,
        this.first,
      );
      if (prior > 0)
        simulation.decide({ request, parts: [{ ...parts[index]!, hits: prior, isRefund: false }] });
    }
    const { statuses } = simulation.decide({ request, parts });
    const span = this.timeline.at(clock.now);
    for (let index = 0; index < parts.length; index++) {
      const isRefused = statuses[index]!.code === Code.OVER_LIMIT;
      this.#compare(domain, sampled[index]!, parts[index]!.resolution.rule, isRefused, weight, span);
    }
  }

  #compare(
    domain: string,
    recorded: RecordedDescriptor,
    rule: Rule | undefined,
    isRefused: boolean,
    weight: number,
    span: Span,
  ): void {
    const { isRefused: wasRefused, override } = recorded;
    this.decisions++;
    addTo(this.sums, weight, wasRefused, isRefused);
    addTo(span, weight, wasRefused, isRefused);
    const change = this.rules.of(
      override === undefined ? recorded.rule : undefined,
      rule,
      override !== undefined,
    );
    addTo(change, weight, wasRefused, isRefused);
    if (wasRefused === isRefused) return;
    const key = `${domain} ${recorded.entries.map(({ key: name, value }) => `${name}=${value}`).join(",")}`;
    this.keys.add(key.slice(0, LONGEST_KEY), isRefused ? weight : 0, isRefused ? 0 : weight);
  }
}

function requestOf({ domain, descriptors }: RecordedDecision): RateLimitRequest {
  return {
    domain,
    descriptors: descriptors.map(
      ({ entries, override, hits }): Descriptor => ({
        entries,
        limit: override,
        hitsAddend: Math.abs(hits),
        isNegativeHits: hits < 0,
      }),
    ),
    hitsAddend: 0,
  };
}
