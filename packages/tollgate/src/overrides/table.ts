/** The overrides and grants that apply now, by descriptor. Immutable: a change makes a new table. */
import type { Entry } from "../protocol/messages.ts";
import type { Match, Rule, RuleSet } from "../rules/rule.ts";
import { overriddenRule } from "./overridden-rule.ts";
import { type AdjustmentRecord, isActive } from "./record.ts";

interface Row {
  readonly records: readonly AdjustmentRecord[];
  /** The rule that the last lookup made, and what it made it from. */
  from: Rule | undefined;
  active: number;
  made: Rule | undefined;
}

export class OverrideTable {
  readonly records: readonly AdjustmentRecord[];
  readonly #rows = new Map<string, Row>();

  private constructor(records: readonly AdjustmentRecord[]) {
    this.records = records;
    for (const [name, own] of Map.groupBy(records, ({ domain, entries }) => rowName(domain, entries)))
      this.#rows.set(name, { records: own, from: undefined, active: -1, made: undefined });
  }

  /** Undefined if no record is active, so that decisions need no lookup. @param now milliseconds since the epoch */
  static of(records: readonly AdjustmentRecord[], now: number): OverrideTable | undefined {
    const active = records.filter((record) => isActive(record, now));
    return active.length === 0 ? undefined : new OverrideTable(active);
  }

  /** The match of a descriptor with its overrides. @param match of this descriptor, from the rules */
  apply(match: Match, domain: string, entries: readonly Entry[], now: number): Match {
    const row = this.#rows.get(rowName(domain, entries));
    if (row === undefined || match.sharedValues !== undefined) return match;
    const { records } = row;
    // A bit for each of the first 31 records: 1 if the record is active.
    let active = 0;
    for (let index = 0; index < records.length; index++)
      if (isActive(records[index]!, now)) active = (active * 2 + 1) | 0;
      else active = (active * 2) | 0;
    if (row.from !== match.rule || row.active !== active || records.length > 31) {
      row.made = overriddenRule(
        match.rule,
        records.filter((record) => isActive(record, now)),
      );
      row.from = match.rule;
      row.active = active;
    }
    return { ...match, rule: row.made! };
  }

  /** The records of a descriptor that are active. */
  recordsOf(domain: string, entries: readonly Entry[], now: number): readonly AdjustmentRecord[] {
    const { records = [] } = this.#rows.get(rowName(domain, entries)) ?? {};
    return records.filter((record) => isActive(record, now));
  }

  /** The rules that a record changes for a descriptor. All other rules need no lookup. */
  touchedRules(ruleSet: RuleSet): ReadonlySet<Rule> {
    const rules = new Set<Rule>();
    for (const { domain, entries } of this.records) {
      const rule = ruleSet.match(domain, entries)?.rule;
      if (rule !== undefined) rules.add(rule);
    }
    return rules;
  }

  /** The end of the record that ends next, in milliseconds since the epoch; undefined if no record ends. */
  get nextEnd(): number | undefined {
    const ends = this.records.flatMap(({ expires }) => (expires === undefined ? [] : [expires]));
    return ends.length === 0 ? undefined : Math.min(...ends);
  }
}

function rowName(domain: string, entries: readonly Entry[]): string {
  let name = `${domain.length}:${domain}`;
  for (const { key, value } of entries) name += `${key.length}:${key}${value.length}:${value}`;
  return name;
}

/** The source of the present table for the decisions of a thread. */
export interface ActiveOverrides {
  /** Undefined: none. */
  readonly current: OverrideTable | undefined;
  /** Milliseconds since the epoch. Records end by this clock. */
  readonly now: () => number;
}

/** The match of a descriptor with its overrides. A request's own limit has none. */
export function withOverrides(
  overrides: ActiveOverrides | undefined,
  match: Match | undefined,
  domain: string,
  entries: readonly Entry[],
): Match | undefined {
  const table = overrides?.current;
  return table === undefined || match === undefined
    ? match
    : table.apply(match, domain, entries, overrides!.now());
}
