/** Answers of the admin API as text. */

import type { AuditEntry } from "../admin/audit-log.ts";
import type { ChangeView, CountersView, FoundView, SearchView } from "../admin/operations.ts";
import type { OverrideView } from "../admin/override-operations.ts";
import type { CounterView } from "../admin/views.ts";
import { oneLine } from "../rules/one-line.ts";

export function countersText({ domain, descriptor, limits, notes = [] }: CountersView): string {
  const lines = [oneLine(`${domain} ${descriptor}`)];
  if (limits.length === 0) lines.push("  unlimited");
  for (const limit of limits) lines.push(`  ${counterLine(limit)}`);
  for (const note of notes) lines.push(`  note: ${oneLine(note)}`);
  return `${lines.join("\n")}\n`;
}

export function changeText(done: string, change: ChangeView): string {
  const counts = change.before.map(({ count }) => count).join(", ");
  return `${done}${counts === "" ? "" : ` (before: ${counts})`}\n${countersText(change)}`;
}

/** `name: 12 of 100 per 60 s, 88 left, until 2026-01-02T15:05:00Z` */
function counterLine(view: CounterView): string {
  const { name, count, holds, limit, burst, granted, seconds, remaining, window, resetSeconds, algorithm } =
    view;
  const rate = burst === undefined ? `${limit} per ${seconds} s` : `${burst} (${limit} per ${seconds} s)`;
  const parts = [
    `${name === undefined ? "" : `${oneLine(name)}: `}${count} of ${rate}`,
    ...(holds === undefined ? [] : [`${holds} held`]),
    `${remaining} left`,
    ...(granted === undefined ? [] : [`${granted} of them granted`]),
    window === undefined ? `unused in ${resetSeconds} s` : `until ${timeText(window.end * 1000)}`,
    ...(algorithm === "fixed_window" ? [] : [algorithm]),
  ];
  return parts.join(", ");
}

export function searchText({ counters, next }: SearchView): string {
  const rows = counters.map((found) => `${foundText(found)}\n`).join("");
  return next === undefined ? rows : `${rows}(more: -next ${next})\n`;
}

function foundText(found: FoundView): string {
  if ("descriptor" in found)
    return `${oneLine(`${found.domain} ${found.descriptor}`)}  ${counterLine(found)}`;
  return oneLine(`${found.key}  count ${found.count}, no rule`);
}

export function overridesText(overrides: readonly OverrideView[]): string {
  return overrides.map((override) => `${overrideText(override)}\n`).join("");
}

export function overrideText({ id, domain, descriptor, effect = [] }: OverrideView): string {
  const what = effect.length === 0 ? "no rule limits this descriptor now" : effect.join("; ");
  return oneLine(`${id}  ${domain} ${descriptor}  ${what}`);
}

export function auditText(changes: readonly AuditEntry[]): string {
  return changes
    .map(({ time, who, what, target, before, after, reason }) => {
      const why = reason === undefined ? "" : `  (${reason})`;
      const states = `${JSON.stringify(before)} -> ${JSON.stringify(after)}`;
      return `${oneLine(`${time}  ${who}  ${what}  ${JSON.stringify(target)}  ${states}${why}`)}\n`;
    })
    .join("");
}

function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(".000Z", "Z");
}
