import { RE2JS, RE2JSException } from "re2js";
import { tagSuffix } from "./names.ts";
import { counterName, type StatisticsView } from "./series.ts";
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

/** Every statistic with its present value, sorted by name; of a timer, its count, mean, quantiles and maximum. */
export async function snapshot(registry: StatisticsView, options: SnapshotOptions): Promise<string> {
  const matches = compileFilter(options.filter);
  await registry.refresh();
  const lines: Line[] = [];
  const add = (name: string, value: number): void => {
    if (matches(name)) lines.push([name, value]);
  };
  let sinceTurn = 0;
  for (const series of [...registry.counters]) {
    const suffix = tagSuffix(series.tags);
    for (let stat = 0; stat < series.stats.length; stat++)
      add(counterName(series, stat) + suffix, series.read(stat));
    sinceTurn += series.stats.length;
    if (sinceTurn >= ITEMS_PER_TURN) {
      sinceTurn = 0;
      await nextTurn();
    }
  }
  for (const gauge of registry.gauges) {
    const value = gauge.read();
    if (!Number.isNaN(value)) add(gauge.name + tagSuffix(gauge.tags), value);
  }
  for (const { name, tags, timer } of registry.timers) {
    const full = name + tagSuffix(tags);
    add(`${full}.count`, timer.count);
    add(`${full}.mean_ms`, timer.count === 0 ? 0 : round(timer.sum / timer.count));
    add(`${full}.p50_ms`, round(timer.quantile(0.5)));
    add(`${full}.p99_ms`, round(timer.quantile(0.99)));
    add(`${full}.p999_ms`, round(timer.quantile(0.999)));
    add(`${full}.max_ms`, round(timer.max));
  }
  return await print(await sortInTurns(lines, byName), options.json ?? false);
}

/** Two keys may share a dotted name (`a.b` and a level `b` under `a`); they are one line here, as on the wire. */
async function print(sorted: readonly Line[], json: boolean): Promise<string> {
  const chunks: string[] = [];
  let written = 0;
  for (let i = 0; i < sorted.length; i++) {
    const [name, first] = sorted[i]!;
    let value = first;
    while (sorted[i + 1]?.[0] === name) value += sorted[++i]![1];
    if (json)
      chunks.push(
        `${written === 0 ? "" : ",\n"}${JSON.stringify(name)}:${Number.isFinite(value) ? value : "null"}`,
      );
    else chunks.push(`${name}: ${value}\n`);
    if (++written % (2 * ITEMS_PER_TURN) === 0) await nextTurn();
  }
  const body = chunks.join("");
  return json ? `{${body}}\n` : body;
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
