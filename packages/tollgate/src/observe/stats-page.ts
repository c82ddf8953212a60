import { tagSuffix } from "./names.ts";
import { loadRe2 } from "./re2.ts";
import { counterName, type StatisticsView, type TimerEntry } from "./series.ts";
import { ITEMS_PER_TURN, nextTurn, sortInTurns } from "./yielding.ts";

export interface SnapshotOptions {
  /**
   * Shows only names that match this regular expression (RE2 syntax) anywhere. RE2 runs in linear time, so no
   * expression can stall the process.
   */
  readonly filter?: string;
  /** Writes one JSON object instead of lines. */
  readonly json?: boolean;
}

/** Error for a `?filter=` that is not a valid regular expression. */
export class FilterError extends Error {
  override readonly name = "FilterError";
  readonly code = "BAD_FILTER";
}

const MAX_FILTER_LENGTH = 1000;

type Line = readonly [name: string, value: number];

/** The lines of one statistic or rule. */
interface Block {
  /** The common prefix of its lines. */
  readonly start: string;
  lines(): Line[];
}

/**
 * Yields every statistic with its current value, sorted by name. A timer shows its count, mean, quantiles and maximum.
 * The text is yielded in pieces, because the whole page may take 200 MB with 100,000 keys.
 * @throws {FilterError} at once
 */
export function snapshot(view: StatisticsView, options: SnapshotOptions): AsyncIterable<string> {
  return pieces(view, compileFilter(options.filter), new Printer(options.json ?? false));
}

async function* pieces(
  view: StatisticsView,
  matches: (name: string) => boolean,
  printer: Printer,
): AsyncGenerator<string> {
  await view.refresh();
  const blocks = await sortInTurns(await blocksOf(view), (a, b) =>
    a.start < b.start ? -1 : a.start > b.start ? 1 : 0,
  );
  const pending = new SortedLines();
  for (const [index, block] of blocks.entries()) {
    // Later blocks hold no line that sorts before their start. The lines of nested rules lie between the lines of this one.
    printer.print(pending.takeBefore(block.start));
    for (const line of block.lines()) if (matches(line[0])) pending.add(line);
    if (index % LINES_PER_PIECE !== 0) continue;
    const piece = printer.take();
    if (piece !== "") yield piece;
    await nextTurn();
  }
  printer.print(pending.takeBefore(undefined));
  yield printer.end();
}

/** Blocks of at most six lines. */
const LINES_PER_PIECE = Math.floor(ITEMS_PER_TURN / 6);

/** Lines sorted by name. Two keys may share a name (`a.b`, and a level `b` under `a`): their values are added, as in sinks. */
class SortedLines {
  #lines: Line[] = [];

  add(line: Line): void {
    const lines = this.#lines;
    let low = 0;
    let high = lines.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lines[middle]![0] < line[0]) low = middle + 1;
      else high = middle;
    }
    const same = lines[low];
    if (same?.[0] === line[0]) lines[low] = [same[0], same[1] + line[1]];
    else lines.splice(low, 0, line);
  }

  /** Removes and returns the lines with names less than `start`; all lines if it is undefined. */
  takeBefore(start: string | undefined): readonly Line[] {
    const lines = this.#lines;
    let count = 0;
    while (count < lines.length && (start === undefined || lines[count]![0] < start)) count++;
    return lines.splice(0, count);
  }
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
  #begun = false;

  constructor(json: boolean) {
    this.#json = json;
  }

  print(lines: readonly Line[]): void {
    for (const [name, value] of lines) {
      if (this.#json) this.#chunks.push(`${JSON.stringify(name)}:${Number.isFinite(value) ? value : "null"}`);
      else this.#chunks.push(`${name}: ${value}\n`);
    }
  }

  /** Returns the text since the last piece. */
  take(): string {
    const chunks = this.#chunks;
    if (chunks.length === 0) return "";
    this.#chunks = [];
    if (!this.#json) return chunks.join("");
    const before = this.#begun ? ",\n" : "{";
    this.#begun = true;
    return before + chunks.join(",\n");
  }

  end(): string {
    const last = this.take();
    if (!this.#json) return last;
    return `${last}${this.#begun ? "" : "{"}}\n`;
  }
}

function compileFilter(filter: string | undefined): (name: string) => boolean {
  if (filter === undefined || filter === "") return () => true;
  if (filter.length > MAX_FILTER_LENGTH)
    throw new FilterError(`filter is longer than ${MAX_FILTER_LENGTH} characters`);
  const { RE2JS, RE2JSException } = loadRe2();
  try {
    const expression = RE2JS.compile(filter);
    return (name) => expression.test(name);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new FilterError(`filter is not a valid RE2 regular expression: ${error.message}`);
  }
}

function round(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
