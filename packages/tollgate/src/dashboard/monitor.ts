import { performance } from "node:perf_hooks";
import type { Health } from "../observe/health.ts";
import type { Logger } from "../observe/log.ts";
import type { Registry } from "../observe/registry.ts";
import type { Entry } from "../protocol/messages.ts";
import type { IndexedRuleSet } from "../rules/rule-set.ts";
import { Activity, NO_RATES } from "./activity.ts";
import { CallWatch } from "./call-state.ts";
import type { LoadLog } from "./load-log.ts";
import type { Frame, History, Left, ProcessState, RuleKeys, RuleRow, ThreadState } from "./messages.ts";
import { SLOT_SECONDS } from "./messages.ts";
import { OnDemand } from "./on-demand.ts";
import { ProcessWatch } from "./process-state.ts";
import { RuleIndex } from "./rule-index.ts";
import { type RuleQuery, refusingRules, rulePage } from "./rule-page.ts";
import { StoreWatch } from "./store-state.ts";
import type { KeyAccess } from "./viewer.ts";

/** Viewers at the same time. Each costs a selection of rules and a frame each second. */
export const MAX_VIEWERS = 16;
/** Milliseconds between two readings while somebody watches. */
const WATCHED_INTERVAL = 1000;
/** Otherwise: enough for the history. */
const IDLE_INTERVAL = SLOT_SECONDS * 1000;

/** Rules whose keys a viewer sees, beside the opened one. */
const RULES_WITH_KEYS = 3;
/** A value that top keys mask or cut: it is not that of the counter. */
const CHANGED_VALUE = /^(?:#[0-9a-f]{16}|\*{5})$|\.\.\.$/;
const NO_HISTORY: History = { hits: [], refused: [] };

export interface MonitorOptions {
  readonly registry: Registry;
  readonly health: Health;
  readonly log: Logger;
  readonly ruleSet: () => IndexedRuleSet | undefined;
  readonly loads: LoadLog;
  /** Reads a counter without counting. Undefined if it cannot be read. */
  readonly readLeft: (domain: string, entries: readonly Entry[]) => Promise<Left | undefined>;
  /** The keys of a rule with the most hits and refusals; undefined if top keys are off. */
  readonly readKeys: ((rule: string) => Promise<RuleKeys | undefined>) | undefined;
  /** The threads besides the main one. */
  readonly threads: () => readonly ThreadState[];
  readonly version: string;
  /** `embedded`, `kvstore` or `objcache`. */
  readonly storeKind: string;
  readonly failureMode: string | undefined;
  /** `SHADOW_MODE` */
  readonly shadowMode: boolean;
  /** Default 1000. */
  readonly interval?: number;
}

/** More than {@link MAX_VIEWERS} viewers. */
export class TooManyViewersError extends Error {
  override readonly name = "TooManyViewersError";
  readonly code = "TOO_MANY_VIEWERS";
}

/** Reads the statistics for the dashboard: each second while somebody watches, otherwise every five seconds. */
export class Monitor {
  readonly #options: MonitorOptions;
  readonly #interval: number;
  readonly #activity = new Activity();
  readonly #calls: CallWatch;
  readonly #store: StoreWatch;
  readonly #process: ProcessWatch;
  /** The rest of each limit, by the number of the rule. */
  readonly #left: OnDemand<number, Left>;
  /** The rest for the key with the most hits, by the domain and the name of the rule. */
  readonly #leftOfTop: OnDemand<string, Left>;
  /** Keys by the name of the rule. */
  readonly #keys: OnDemand<string, RuleKeys>;
  #processState: ProcessState;
  #index: RuleIndex | undefined;
  #viewers = 0;
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  /** Wakes the viewers that wait for the next reading. */
  readonly #waiting = new Set<() => void>();
  #stopped = false;

  constructor(options: MonitorOptions) {
    this.#options = options;
    this.#interval = options.interval ?? WATCHED_INTERVAL;
    this.#calls = new CallWatch(options.registry);
    this.#store = new StoreWatch(options.registry, options.storeKind, options.failureMode);
    this.#process = new ProcessWatch(options.version, options.threads);
    this.#processState = this.#process.read();
    this.#left = new OnDemand((number) => this.#readLeft(number));
    this.#leftOfTop = new OnDemand((name) => this.#readLeftOfTop(name));
    this.#keys = new OnDemand(async (rule) => options.readKeys?.(rule));
  }

  get viewers(): number {
    return this.#viewers;
  }

  /** Begins to keep the history. */
  start(): void {
    void this.#read();
  }

  /** Ends all views. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#process.turn(false);
    this.#wake();
  }

  /**
   * Yields a frame each second. A slow viewer gets fewer frames, and none waits for it.
   * @throws {TooManyViewersError} with the first frame
   */
  async *watch(query: RuleQuery, keys: KeyAccess, signal: AbortSignal): AsyncGenerator<Frame> {
    for await (const _ of this.#ticks(signal)) yield await this.#frame(query, keys);
  }

  /** Yields after each reading. @throws {TooManyViewersError} before the first one */
  async *#ticks(signal: AbortSignal): AsyncGenerator<void> {
    if (this.#viewers >= MAX_VIEWERS)
      throw new TooManyViewersError(
        `${MAX_VIEWERS} dashboards are open, the most that one process serves: close one of them`,
      );
    this.#viewers++;
    this.#process.turn(true);
    try {
      const isOld = performance.now() - this.#readAt >= this.#interval;
      if (isOld || this.#index?.ruleSet !== this.#options.ruleSet()) {
        await this.#reading;
        await this.#read();
      }
      while (!this.#stopped && !signal.aborted) {
        yield;
        if (!signal.aborted) await this.#nextReading(signal);
      }
    } finally {
      this.#viewers--;
      if (this.#viewers === 0) this.#process.turn(false);
    }
  }

  /** Resolves after the next reading, or when the viewer leaves: its place becomes free at once. */
  #nextReading(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake);
    });
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  /** The state at the last reading. */
  async #frame(query: RuleQuery, keys: KeyAccess): Promise<Frame> {
    const { health, loads, ruleSet, shadowMode } = this.#options;
    const activity = this.#activity;
    const { sums } = activity;
    const seconds = activity.secondsOfTwoSlots;
    const calls = this.#calls.state;
    const sources = { activity, index: this.#index, left: (number: number) => this.#left.get(number) };
    const refusing = refusingRules(sources);
    const rules = await rulePage(sources, query);
    const shown = (row: RuleRow) => (keys.shown ? this.#withLeft(row) : row);
    return {
      time: Date.now(),
      faults: health.healthy ? [] : health.body().trimEnd().split("\n"),
      shadowMode,
      domains: ruleSet()?.domains.length ?? 0,
      rates: sums?.total.rates(seconds) ?? NO_RATES,
      unknownDomainPerSecond: sums?.unknownDomain.rates(seconds).hits ?? 0,
      history: sums?.total.history(seconds - SLOT_SECONDS) ?? NO_HISTORY,
      calls,
      store: this.#store.state(performance.now(), calls),
      process: this.#processState,
      refusing: refusing.map(shown).map(({ history: _, ...row }) => row),
      rules: { ...rules, rows: rules.rows.map(shown) },
      loads: loads.count,
      lastLoadFailed: loads.entries[0]?.succeeded === false,
      keys: {
        ...keys,
        counted: this.#options.readKeys !== undefined,
        rules: keys.shown ? this.#keysOf(refusing, rules.rows, query.rule) : [],
      },
    };
  }

  /** Adds what is left for the key with the most hits, if the rule has a counter for each key. */
  #withLeft(row: RuleRow): RuleRow {
    const { domain, rule, left, history } = row;
    if (left !== undefined || history === undefined || rule === undefined || row.isOneOfSeveral) return row;
    const ofTop = this.#leftOfTop.get(`${domain}\0${rule}`);
    return ofTop === undefined ? row : { ...row, left: ofTop };
  }

  async #readLeftOfTop(name: string): Promise<Left | undefined> {
    const [domain, rule] = name.split("\0") as [string, string];
    const keys = await this.#options.readKeys?.(rule);
    const [top] = keys?.keys ?? [];
    if (top === undefined || top.entries.some(([, value]) => CHANGED_VALUE.test(value))) return undefined;
    const entries = top.entries.map(([key, value]) => ({ key, value }));
    const left = await this.#options.readLeft(domain, entries);
    return left && { ...left, key: top.entries.map((pair) => pair.join("=")).join(", ") };
  }

  /** The keys of the rules that refuse most, and of the one that the viewer has opened. */
  #keysOf(refusing: readonly RuleRow[], rows: readonly RuleRow[], opened: string): readonly RuleKeys[] {
    const most = refusing.filter((row) => !row.isOneOfSeveral).slice(0, RULES_WITH_KEYS);
    const names = new Set([...most, ...rows.filter(({ key }) => key === opened)].map(({ rule }) => rule));
    return [...names].flatMap((name) => (name === undefined ? [] : (this.#keys.get(name) ?? [])));
  }

  async #readLeft(number: number): Promise<Left | undefined> {
    const nodes = this.#index?.ruleSet.nodes;
    const entries = nodes?.isUnlimited(number) ? undefined : nodes?.fixedEntries(number);
    return entries && this.#options.readLeft(nodes!.domain(number), entries);
  }

  /** Reads all statistics, unless a reading is under way. Never rejects. */
  #read(): Promise<void> {
    clearTimeout(this.#timer);
    this.#reading ??= this.#readAll()
      .catch((error: unknown) =>
        this.#options.log.error(`the dashboard cannot read the statistics: ${error}`),
      )
      .finally(() => this.#finish());
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    const { registry, ruleSet } = this.#options;
    await registry.refresh();
    const now = performance.now();
    await this.#activity.read(registry.counters, now);
    this.#calls.read(now);
    this.#store.read(now);
    if (this.#viewers === 0) return;
    const current = ruleSet();
    if (current !== this.#index?.ruleSet) {
      this.#index = current === undefined ? undefined : await RuleIndex.create(current, registry);
      this.#left.forget();
      this.#leftOfTop.forget();
    }
    void this.#keys.refresh();
    this.#processState = this.#process.read();
    // The breaker lets a probe pass now and then. It is not for a dashboard to use it up.
    if (this.#store.degraded) {
      this.#left.forget();
      this.#leftOfTop.forget();
      return;
    }
    void this.#left.refresh();
    void this.#leftOfTop.refresh();
  }

  #finish(): void {
    this.#reading = undefined;
    this.#readAt = performance.now();
    if (this.#stopped) return;
    this.#wake();
    this.#timer = setTimeout(() => void this.#read(), this.#viewers > 0 ? this.#interval : IDLE_INTERVAL);
    this.#timer.unref();
  }
}
