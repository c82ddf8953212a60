import type { Replay } from "../replay/replay.ts";
import type { RuleChange } from "../replay/rule-changes.ts";
import type { Span } from "../replay/timeline.ts";
import { formatLocation } from "../rules/diagnostic.ts";
import { oneLine } from "../rules/one-line.ts";
import { paint } from "./check-format.ts";
import { plot } from "./plot.ts";
import { textTable } from "./text-table.ts";

/** Rows of the table of rules. `--json` has all. */
const MAX_ROWS = 50;
const PLOT_HEIGHT = 5;

/** Formats the result for people. Sums are scaled to the whole traffic. */
export function replayText(replay: Replay, top: number, seconds: number, color: boolean): string {
  const { sums, decisions } = replay;
  const lines = [summaryLine(replay)];
  if (decisions > 0) {
    lines.push("", ...totals(sums, color), "", ...rulesTable(replay.rules.list(), color));
    if (sums.newlyRefused + sums.newlyPass > 0) lines.push("", ...keysTable(replay, top));
    lines.push("", ...plots(replay));
  }
  const notes = notesOf(replay);
  if (notes.length > 0) lines.push("", ...notes.map((note) => paint("yellow", note, color)));
  lines.push("", paint("dim", `${whole(decisions)} decisions in ${seconds.toFixed(1)} s`, color));
  return `${lines.join("\n")}\n`;
}

function summaryLine({ decisions, first, last, lowestRate, lines }: Replay): string {
  if (decisions === 0) return `no decision to compare in ${whole(lines)} lines`;
  const scaled = lowestRate < 1 ? `; sampled at ${percent(lowestRate, 1)}, sums are scaled` : "";
  return `${whole(decisions)} decisions from ${timeText(first)} to ${timeText(last)}${scaled}`;
}

function totals(
  { decisions, refusedBefore, refusedNow, newlyRefused, newlyPass }: Span,
  color: boolean,
): string[] {
  const row = (name: string, value: number) =>
    `${name.padEnd(15)}${whole(value).padStart(12)}  ${percent(value, decisions)}`;
  return [
    row("refused before", refusedBefore),
    row("refused now", refusedNow),
    paint(newlyRefused > 0 ? "red" : "dim", row("newly refused", newlyRefused), color),
    paint(newlyPass > 0 ? "green" : "dim", row("newly pass", newlyPass), color),
  ];
}

function rulesTable(rules: readonly RuleChange[], color: boolean): string[] {
  const rows = rules
    .slice(0, MAX_ROWS)
    .map((change) => [
      ruleText(change),
      whole(change.decisions),
      whole(change.refusedBefore),
      whole(change.refusedNow),
      whole(change.newlyRefused),
      whole(change.newlyPass),
    ]);
  const head = ["rule", "decisions", "refused before", "refused now", "newly refused", "newly pass"];
  const [first, ...others] = textTable(head, rows);
  const more =
    rules.length > MAX_ROWS ? [`... and ${rules.length - MAX_ROWS} more rows: --json has all`] : [];
  return [paint("bold", first!, color), ...others, ...more];
}

const NO_RULE = "(no rule)";

function ruleText({ before = NO_RULE, now = NO_RULE, rule }: RuleChange): string {
  const place = rule?.location === undefined ? "" : `  ${formatLocation(rule.location)}`;
  return oneLine(`${before === now ? now : `${before} -> ${now}`}${place}`);
}

function keysTable(replay: Replay, top: number): string[] {
  const rows = replay.keys
    .top(top)
    .map(({ key, newlyRefused, newlyPass }) => [shortKey(key), whole(newlyRefused), whole(newlyPass)]);
  if (rows.length === 0) return [];
  const bound = replay.keys.error > 0 ? `, each at most ${whole(replay.keys.error)} too low` : "";
  return textTable([`keys with the most changes${bound}`, "newly refused", "newly pass"], rows);
}

function shortKey(key: string): string {
  const line = oneLine(key);
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}

function plots({ timeline }: Replay): string[] {
  const { spans, start, width } = timeline;
  const top = Math.max(...spans.flatMap(({ refusedBefore, refusedNow }) => [refusedBefore, refusedNow]), 1);
  const series = [
    ["refused before", (span: Span) => span.refusedBefore],
    ["refused now", (span: Span) => span.refusedNow],
  ] as const;
  const left = whole(top).length;
  const lines = series.flatMap(([name, valueIn]) => {
    const rows = plot(spans.map(valueIn), PLOT_HEIGHT, top);
    const label = (row: number) => (row === 0 ? whole(top) : "").padStart(left);
    return [
      `${name}, each column ${spanText(width)}`,
      ...rows.map((row, index) => `${label(index)} │${row}`),
    ];
  });
  const end = timeText(start + spans.length * width);
  const axis = `${"0".padStart(left)} └${"─".repeat(spans.length)}`;
  return [...lines, axis, `${" ".repeat(left)}  ${timeText(start)} to ${end}`];
}

function notesOf(replay: Replay): string[] {
  const { damaged, damagedLines, leftOut, late, evicted, seeded } = replay;
  const notes: string[] = [];
  if (leftOut > 0)
    notes.push(`${whole(leftOut)} lines are extra refusals without a sampled key: left out of all sums`);
  if (seeded > 0)
    notes.push(`${whole(seeded)} counters start with the hits that they had before the log began`);
  if (late > 0)
    notes.push(`${whole(late)} lines came too late for their time: decided at the time that was reached`);
  if (evicted > 0)
    notes.push(`${whole(evicted)} counters did not fit in the memory: pass a greater -store_size`);
  for (const change of replay.rules.list())
    if (change.rule?.shareThreshold && replay.lowestRate < 1)
      notes.push(
        `${change.now}: all values share one counter, which sees the sampled keys only, unless the log was recorded with it`,
      );
  if (damaged > 0) notes.push(`damaged lines: ${whole(damaged)}`);
  for (const { log, line, reason } of damagedLines) notes.push(`  ${oneLine(log)}:${line}: ${reason}`);
  if (damaged > damagedLines.length) notes.push(`  and ${whole(damaged - damagedLines.length)} more`);
  return [...new Set(notes)];
}

/** The result as data. Sums are scaled to the whole traffic. */
export function replayJson(replay: Replay, top: number, seconds: number): object {
  const { timeline } = replay;
  return {
    lines: replay.lines,
    decisions: replay.decisions,
    left_out: replay.leftOut,
    late: replay.late,
    seeded_counters: replay.seeded,
    evicted_counters: replay.evicted,
    damaged: { lines: replay.damaged, first: replay.damagedLines },
    ...(replay.decisions > 0 && { from: timeText(replay.first), to: timeText(replay.last) }),
    lowest_rate: replay.lowestRate,
    sums: sumsOf(replay.sums),
    rules: replay.rules.list().map((change) => ({
      before: change.before ?? null,
      now: change.now ?? null,
      ...(change.rule?.location !== undefined && { location: formatLocation(change.rule.location) }),
      ...sumsOf(change),
    })),
    keys: {
      error: replay.keys.error,
      top: replay.keys.top(top).map(({ key, newlyRefused, newlyPass }) => {
        return { key, newly_refused: newlyRefused, newly_pass: newlyPass };
      }),
    },
    timeline: {
      seconds: timeline.width / 1000,
      spans: timeline.spans.map((span, index) => {
        return { time: timeText(timeline.start + index * timeline.width), ...sumsOf(span) };
      }),
    },
    seconds,
  };
}

function sumsOf({ decisions, refusedBefore, refusedNow, newlyRefused, newlyPass }: Span) {
  return {
    decisions,
    refused_before: refusedBefore,
    refused_now: refusedNow,
    newly_refused: newlyRefused,
    newly_pass: newlyPass,
  };
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}

function percent(part: number, of: number): string {
  const value = (100 * part) / of;
  return `${value > 0 && value < 0.1 ? value.toPrecision(1) : Number(value.toFixed(1))} %`;
}

function spanText(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200
    ? `${Number((seconds / 60).toFixed(1))} min`
    : `${Number((seconds / 3600).toFixed(1))} h`;
}

function timeText(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, "Z");
}
