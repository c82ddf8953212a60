import { RE2JS, RE2JSException } from "re2js";
import { tagSuffix } from "./names.ts";
import { counterName, type StatisticsView, type TimerEntry } from "./series.ts";
import { ITEMS_PER_TURN, nextTurn, sortInTurns } from "./yielding.ts";

export interface SnapshotOptions {
  /**
   * Only names that this regular expression (RE2 syntax) finds itself in. It runs in time linear in the names,
   * so that no expression can stall the process.
   */
  readonly filter?: string;
  /** One JSON object instead of lines. */
  readonly json?: boolean;
}

/** A `?filter=` that is no regular expression; the caller's fault. */
export class FilterError extends Error {
  override readonly name = "FilterError";
  readonly code = "BAD_FILTER";
}

const MAX_FILTER_LENGTH = 1000;

type Line = readonly [name: string, value: number];

/** Lines that belong together, as those of a rule do: sorted as one, because there are many. */
interface Block {
  /** All of its lines begin with this. */
  readonly start: string;
  lines(): Line[];
}

/** Every statistic with its present value, sorted by name; of a timer, its count, mean, quantiles and maximum. */
export async function snapshot(view: StatisticsView, options: SnapshotOptions): Promise<string> {
  const matches = compileFilter(options.filter);
  await view.refresh();
  const blocks = await sortInTurns(await blocksOf(view), (a, b) =>
    a.start < b.start ? -1 : a.start > b.start ? 1 : 0,
  );
  const printer = new Printer(options.json ?? false);
  let sinceTurn = 0;
  for (let i = 0; i < blocks.length; ) {
    const { start } = blocks[i]!;
    const lines = blocks[i++]!.lines();
    // Rules below this one: their lines lie between its own.
    while (i < blocks.length && blocks[i]!.start.startsWith(start)) lines.push(...blocks[i++]!.lines());
    const shown = lines.filter(([name]) => matches(name));
    printer.print(shown.length > ITEMS_PER_TURN ? await sortInTurns(shown, byName) : shown.sort(byName));
    sinceTurn += lines.length;
    if (sinceTurn >= ITEMS_PER_TURN) {
      sinceTurn = 0;
      printer.turn();
      await nextTurn();
    }
  }
  return printer.end();
}

async function blocksOf(view: StatisticsView): Promise<Block[]> {
  const blocks: Block[] = [];
  for (const series of [...view.counters]) {
    const suffix = tagSuffix(series.tags);
    const many = series.stats[0] !== "";
    blocks.push({
      start: many ? `${series.name}.` : series.name,
      lines: () => series.stats.map((_, stat) => [counterName(series, stat) + suffix, series.read(stat)]),
    });
    if (blocks.length % ITEMS_PER_TURN === 0) await nextTurn();
  }
  for (const gauge of view.gauges)
    blocks.push({
      start: gauge.name,
      lines: () => {
        const value = gauge.read();
        return Number.isNaN(value) ? [] : [[gauge.name + tagSuffix(gauge.tags), value]];
      },
    });
  for (const entry of view.timers) blocks.push({ start: entry.name, lines: () => timerLines(entry) });
  return blocks;
}

function timerLines({ name, tags, timer }: TimerEntry): Line[] {
  const full = name + tagSuffix(tags);
  return [
    [`${full}.count`, timer.count],
    [`${full}.mean_ms`, timer.count === 0 ? 0 : round(timer.sum / timer.count)],
    [`${full}.p50_ms`, round(timer.quantile(0.5))],
    [`${full}.p99_ms`, round(timer.quantile(0.99))],
    [`${full}.p999_ms`, round(timer.quantile(0.999))],
    [`${full}.max_ms`, round(timer.max)],
  ];
}

class Printer {
  readonly #json: boolean;
  #chunks: string[] = [];
  /** Chunks joined a turn at a time: to join all of them at the end would be one long turn. */
  readonly #pages: string[] = [];

  constructor(json: boolean) {
    this.#json = json;
  }

  /** Two keys may share a dotted name (`a.b` and a level `b` under `a`); they are one line here, as on the wire. */
  print(sorted: readonly Line[]): void {
    for (let i = 0; i < sorted.length; i++) {
      const [name, first] = sorted[i]!;
      let value = first;
      while (sorted[i + 1]?.[0] === name) value += sorted[++i]![1];
      if (this.#json) this.#chunks.push(`${JSON.stringify(name)}:${Number.isFinite(value) ? value : "null"}`);
      else this.#chunks.push(`${name}: ${value}\n`);
    }
  }

  turn(): void {
    if (this.#chunks.length > 0) this.#pages.push(this.#chunks.join(this.#json ? ",\n" : ""));
    this.#chunks = [];
  }

  end(): string {
    this.turn();
    return this.#json ? `{${this.#pages.join(",\n")}}\n` : this.#pages.join("");
  }
}

function compileFilter(filter: string | undefined): (name: string) => boolean {
  if (filter === undefined || filter === "") return () => true;
  if (filter.length > MAX_FILTER_LENGTH)
    throw new FilterError(`filter is longer than ${MAX_FILTER_LENGTH} characters`);
  try {
    const expression = RE2JS.compile(filter);
    return (name) => expression.test(name);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new FilterError(`filter is not a regular expression in RE2's syntax: ${error.message}`);
  }
}

function byName(a: Line, b: Line): number {
  return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0;
}

function round(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
