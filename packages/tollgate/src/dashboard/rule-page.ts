import { RuleSeries, ruleStats } from "../observe/series.ts";
import { ITEMS_PER_TURN, nextTurn, sortInTurns } from "../observe/yielding.ts";
import { type Activity, NO_RATES } from "./activity.ts";
import type { Left, RulePage, RuleRow, Totals } from "./messages.ts";
import type { DynamicRule, RuleIndex } from "./rule-index.ts";
import { limitText, modesOf, oneLimitText, placeOf, shown } from "./rule-texts.ts";

/** A viewer's query for rules. */
export interface RuleQuery {
  /** Part of the key, in any letter case. */
  readonly search: string;
  /** The order: `refused` also puts shadowed, near and hits after another. */
  readonly order: "refused" | "hits" | "name";
  readonly offset: number;
  readonly limit: number;
  /** The key of the row that the viewer has opened; empty for none. */
  readonly rule: string;
}

export const MAX_ROWS = 200;
export const MAX_SEARCH = 200;
const PREFIX = "ratelimit.service.rate_limit.";

export interface RulePageSources {
  readonly activity: Activity;
  /** Undefined while nothing is loaded. */
  readonly index: RuleIndex | undefined;
  /** The rest of the limit of a rule that has only one counter. */
  readonly left: (number: number) => Left | undefined;
}

/** A row to be made: of statistics, or of a rule that keeps them by value and had no hits lately. */
type Candidate = RuleSeries | DynamicRule;

/** The part of the rules that a query asks for: those with hits first, except by name. */
export async function rulePage(sources: RulePageSources, query: RuleQuery): Promise<RulePage> {
  const { activity, index } = sources;
  const search = query.search.toLowerCase();
  const fits = (one: Candidate) => search === "" || keyOf(one).toLowerCase().includes(search);
  const active = [...activity.series()].filter(fits);
  const known = new Set<unknown>(active);
  for (const series of active) known.add(index?.numberOf(series));
  const idle: Candidate[] = [];
  let looked = 0;
  for (const series of index?.sorted ?? []) {
    if (++looked % ITEMS_PER_TURN === 0) await nextTurn();
    if (!known.has(series) && fits(series)) idle.push(series);
  }
  for (const rule of index?.dynamicRules ?? []) if (!known.has(rule.number) && fits(rule)) idle.push(rule);
  const ordered: Candidate[] =
    query.order === "name"
      ? await sortInTurns([...active, ...idle], byKey)
      : [...ranked(active, activity, query.order), ...idle];
  const chosen = ordered.slice(query.offset, query.offset + query.limit);
  return {
    rows: chosen.map((one) => (one instanceof RuleSeries ? seriesRow(one, sources) : idleRow(one, index!))),
    offset: query.offset,
    matching: ordered.length,
    configured: index?.size ?? 0,
    active: activity.active,
  };
}

/** Refusing rules that a viewer sees, whatever the query; among them the limits of rules that have several. */
const MAX_REFUSING = 12;

/** The rules that refuse most, whatever a viewer searches for. */
export function refusingRules(sources: RulePageSources): readonly RuleRow[] {
  const { activity } = sources;
  const refusing = [...activity.series()].filter((series) => activity.rates(series).refused > 0);
  const most = ranked(refusing, activity, "refused").slice(0, MAX_REFUSING);
  return most.map((series) => seriesRow(series, sources));
}

function ranked(series: RuleSeries[], activity: Activity, order: RuleQuery["order"]): RuleSeries[] {
  const rated = series.map((one) => ({ one, rates: activity.rates(one), sum: one.overLimit }));
  rated.sort(
    (a, b) =>
      (order === "refused"
        ? b.rates.refused - a.rates.refused ||
          b.rates.shadowed - a.rates.shadowed ||
          b.rates.near - a.rates.near
        : 0) ||
      b.rates.hits - a.rates.hits ||
      b.sum - a.sum ||
      byKey(a.one, b.one),
  );
  return rated.map(({ one }) => one);
}

function seriesRow(series: RuleSeries, { activity, index, left }: RulePageSources): RuleRow {
  const number = index?.numberOf(series);
  const history = activity.history(series);
  const limit = index?.limitOf(series);
  const remaining = number === undefined || limit !== undefined ? undefined : left(number);
  return {
    key: keyOf(series),
    rates: activity.rates(series),
    ...(history && { history }),
    totals: Object.fromEntries(ruleStats.map((stat, at) => [stat, series.read(at)])) as unknown as Totals,
    ...(remaining && { left: remaining }),
    ...(number === undefined
      ? { domain: series.labels.domain, origin: originOf(series, index), limit: "", name: "", modes: [] }
      : configured(index!, number)),
    ...(limit && { limit: shown(oneLimitText(limit)), isOneOfSeveral: true as const }),
  };
}

function idleRow({ number, key }: DynamicRule, index: RuleIndex): RuleRow {
  return { key, rates: NO_RATES, ...configured(index, number) };
}

function configured(index: RuleIndex, number: number) {
  const rule = index.rule(number);
  return {
    domain: shown(rule.domain),
    origin: "configured" as const,
    limit: shown(limitText(rule)),
    name: shown(rule.name),
    modes: modesOf(rule),
    rule: shown([rule.domain, ...rule.path].join(".")),
    ...(rule.location && { place: placeOf(rule.location) }),
  };
}

function keyOf(one: Candidate): string {
  return one instanceof RuleSeries ? one.name.slice(PREFIX.length) : one.key;
}

/** A key of a configured domain that no rule explains came with a request, or from rules that are gone. */
function originOf({ labels }: RuleSeries, index: RuleIndex | undefined): "request" | "removed" {
  return index?.ruleSet.hasDomain(labels.domain) ? "request" : "removed";
}

function byKey(a: Candidate, b: Candidate): number {
  const [one, other] = [keyOf(a), keyOf(b)];
  return one < other ? -1 : one > other ? 1 : 0;
}
