/** One parsed sample line of a scrape. */
export interface ScrapedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ScrapedFamily {
  readonly type: string;
  readonly help: string;
  readonly samples: ScrapedSample[];
}

const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (NaN|[+-]Inf|-?\d[\d.]*(?:e[+-]?\d+)?)$/;
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/y;
const suffixes: Readonly<Record<string, readonly string[]>> = {
  counter: ["", "_total"],
  gauge: [""],
  unknown: [""],
  histogram: ["_bucket", "_sum", "_count"],
  summary: ["", "_sum", "_count"],
};

/**
 * A strict parser of both exposition formats.
 * @throws if a line is invalid, a family is split, a series occurs twice, or buckets do not add up
 */
export function parseExposition(text: string, openmetrics = false): Map<string, ScrapedFamily> {
  const families = new Map<string, ScrapedFamily>();
  const seen = new Set<string>();
  let current = "";
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const lines = text.slice(0, -1).split("\n");
  if (openmetrics && lines.pop() !== "# EOF") throw new Error("no # EOF at the end");
  let help: readonly [string, string] | undefined;
  for (const line of lines) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line);
    if (comment?.[1] === "HELP") {
      help = [comment[2]!, comment[3]!];
      continue;
    }
    if (comment !== null) {
      current = comment[2]!;
      if (families.has(current)) throw new Error(`family twice: ${current}`);
      if (help?.[0] !== current) throw new Error(`no help: ${current}`);
      if (suffixes[comment[3]!] === undefined) throw new Error(`type: ${line}`);
      families.set(current, { type: comment[3]!, help: help[1], samples: [] });
      continue;
    }
    const match = sampleLine.exec(line);
    if (match === null) throw new Error(`not a line of the format: ${line}`);
    const [, name, labelText, value] = match;
    const family = families.get(current);
    if (family === undefined || !suffixes[family.type]!.some((suffix) => current + suffix === name))
      throw new Error(`outside its family ${current}: ${line}`);
    if (openmetrics && family.type === "counter" && !name!.endsWith("_total"))
      throw new Error(`no _total: ${line}`);
    if (seen.has(`${name}{${labelText ?? ""}}`)) throw new Error(`twice: ${line}`);
    seen.add(`${name}{${labelText ?? ""}}`);
    family.samples.push({
      name: name!,
      labels: parseLabels(labelText ?? "", line),
      value: parseValue(value!),
    });
  }
  for (const [name, family] of families)
    if (family.type === "histogram") checkHistogram(name, family, openmetrics);
  return families;
}

/** Returns the value of a series; undefined if there is no such series. */
export function sampleOf(
  families: ReadonlyMap<string, ScrapedFamily>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  for (const family of families.values())
    for (const sample of family.samples)
      if (sample.name === name && JSON.stringify(sample.labels) === JSON.stringify(labels))
        return sample.value;
  return undefined;
}

function parseLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  label.lastIndex = 0;
  while (label.lastIndex < text.length) {
    const match = label.exec(text);
    if (match === null) throw new Error(`labels: ${line}`);
    if (match[1]! in labels) throw new Error(`label twice: ${line}`);
    labels[match[1]!] = match[2]!.replace(/\\(.)/g, (_, escaped) => (escaped === "n" ? "\n" : escaped));
  }
  return labels;
}

function parseValue(text: string): number {
  return Number(text.replace("Inf", "Infinity"));
}

function checkHistogram(name: string, family: ScrapedFamily, openmetrics: boolean): void {
  let last = 0;
  for (const sample of family.samples) {
    if (sample.name !== `${name}_bucket`) {
      if (sample.name === `${name}_count` && sample.value !== last)
        throw new Error(`${name}: +Inf is not the count`);
      if (sample.name === `${name}_count`) last = 0;
      continue;
    }
    if (sample.value < last) throw new Error(`${name}: buckets fall`);
    if (openmetrics && /^\d+$/.test(sample.labels.le!)) throw new Error(`${name}: le is not canonical`);
    last = sample.value;
  }
}
