import { ITEMS_PER_TURN, nextTurn } from "../../yielding.ts";
import { escapeLabel, type Families, type Family, type Sample } from "./families.ts";
import { Histogram } from "./observers.ts";

export type ExpositionFormat = "text" | "openmetrics";

export const contentTypes: Readonly<Record<ExpositionFormat, string>> = {
  text: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

/** A family of gauges that is made for each scrape. */
interface GaugeFamily {
  readonly metric: string;
  readonly help: string;
  readonly gauges: readonly {
    readonly labels: readonly (readonly [name: string, value: string])[];
    readonly value: number;
  }[];
}

export type MoreFamilies = () => Promise<readonly GaugeFamily[]>;

interface RenderOptions {
  readonly more?: MoreFamilies | undefined;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/**
 * Renders the metrics as text, in pieces. Formats: Prometheus text 0.0.4 and OpenMetrics 1.0.0. OpenMetrics requires
 * counters to end in `_total`, so it shows the contract's counters with the type `unknown`.
 */
export async function* render(
  families: Families,
  format: ExpositionFormat,
  { more, now = () => performance.now() }: RenderOptions = {},
): AsyncGenerator<string> {
  const collected = await families.collect();
  for (const family of collected) {
    let piece = "";
    let count = 0;
    let begun = false;
    for (const sample of family.samples.values()) {
      const lines = sampleLines(family, sample, format, now());
      if (lines === "") continue;
      if (!begun) piece += header(family, format);
      begun = true;
      piece += lines;
      if (++count % ITEMS_PER_TURN === 0) {
        yield piece;
        piece = "";
        await nextTurn();
      }
    }
    if (piece !== "") yield piece;
  }
  for (const family of (await more?.()) ?? []) yield gaugeLines(family, families.tagLabels);
  if (format === "openmetrics") yield "# EOF\n";
}

function header(family: Family, format: ExpositionFormat): string {
  const name = familyName(family, format);
  const help = family.help
    .replace(/[\\\n]/g, (character) => (character === "\n" ? "\\n" : "\\\\"))
    .replace(/"/g, format === "openmetrics" ? '\\"' : '"');
  return `# HELP ${name} ${help}\n# TYPE ${name} ${typeName(family, format)}\n`;
}

/** @param tags `EXTRA_TAGS` as labels */
function gaugeLines({ metric, help, gauges }: GaugeFamily, tags: string): string {
  const lines = gauges.map(({ labels, value }) => {
    const own = labels.map(([name, text]) => `${name}="${escapeLabel(text)}"`).join(",");
    return `${metric}{${tags === "" ? own : `${own},${tags}`}} ${formatValue(value)}\n`;
  });
  return lines.length === 0 ? "" : `# HELP ${metric} ${help}\n# TYPE ${metric} gauge\n${lines.join("")}`;
}

/** In OpenMetrics a counter's family name has no `_total`. */
function familyName(family: Family, format: ExpositionFormat): string {
  return format === "openmetrics" && family.type === "counter"
    ? family.metric.replace(/_total$/, "")
    : family.metric;
}

function typeName(family: Family, format: ExpositionFormat): string {
  if (format === "openmetrics" && family.type === "counter" && !family.metric.endsWith("_total"))
    return "unknown";
  return family.type;
}

function sampleLines(family: Family, sample: Sample, format: ExpositionFormat, now: number): string {
  const { metric } = family;
  const { labels, observer } = sample;
  if (observer === undefined) {
    const value = sample.read();
    if (Number.isNaN(value) || sample.expiry?.isOver(value, now) === true) return "";
    return labels === ""
      ? `${metric} ${formatValue(value)}\n`
      : `${metric}{${labels}} ${formatValue(value)}\n`;
  }
  if (sample.expiry?.isOver(observer.count, now) === true) return "";
  const tail = labels === "" ? "" : `{${labels}}`;
  const before = labels === "" ? "" : `${labels},`;
  let lines = "";
  if (observer instanceof Histogram) {
    let cumulated = 0;
    for (const [i, inside] of observer.buckets.entries()) {
      cumulated += inside;
      const bound = observer.bounds[i] ?? Number.POSITIVE_INFINITY;
      lines += `${metric}_bucket{${before}le="${formatBound(bound, format)}"} ${cumulated}\n`;
    }
  } else
    for (const [i, value] of observer.read().entries())
      lines += `${metric}{${before}quantile="${formatBound(observer.quantiles[i]!, format)}"} ${formatValue(value)}\n`;
  return `${lines}${metric}_sum${tail} ${formatValue(observer.sum)}\n${metric}_count${tail} ${observer.count}\n`;
}

function formatValue(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  return String(value);
}

/** OpenMetrics requires canonical numbers: `1.0`, not `1`. */
function formatBound(value: number, format: ExpositionFormat): string {
  const text = formatValue(value);
  return format === "openmetrics" && /^-?\d+$/.test(text) ? `${text}.0` : text;
}
