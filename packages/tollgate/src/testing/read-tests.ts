import type { Diagnostic } from "../rules/diagnostic.ts";
import type { RuleFile } from "../rules/load-rules.ts";
import { ReadingState } from "../rules/reading-state.ts";
import { Report } from "../rules/report.ts";
import { Source } from "../rules/source-text.ts";
import type { YamlNode } from "../rules/yaml-node.ts";
import { parseYaml } from "../rules/yaml-parse.ts";
import { type FieldReader, openMapping } from "./field-reader.ts";
import { readStep } from "./read-step.ts";
import type { LimitTest, Step, TestFile } from "./test-file.ts";

/** The default start: the first second of a minute, an hour, a day and a week of the epoch. */
const DEFAULT_START = Date.parse("2026-01-01T00:00:00Z");

export interface ReadTestFile {
  /** Undefined if there are errors. */
  readonly file: TestFile | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads a test file. Never throws: faults become diagnostics. */
export function readTestFile({ name, text }: RuleFile): ReadTestFile {
  const report = new Report();
  const source = new Source(name, text);
  report.addSource(source);
  const root = parseYaml(source, report);
  const file = root && readFile(root, new ReadingState(source, report));
  return { file: report.hasErrors ? undefined : file, diagnostics: report.finish() };
}

function readFile(root: YamlNode, reading: ReadingState): TestFile | undefined {
  const mapping = openMapping(root, "file", "a test file", reading);
  if (mapping === undefined) return undefined;
  const defaults = { domain: mapping.text("domain"), start: mapping.instant("start") ?? DEFAULT_START };
  const nodes = mapping.items("tests", "tests");
  if (mapping.given("tests") && nodes.length === 0) mapping.fault("tests", "`tests` has no test");
  const tests = nodes.map((node) => readTest(node, defaults, reading)).filter((one) => one !== undefined);
  const names = new Set<string>();
  for (const { name, at } of tests) {
    if (names.has(name)) reading.report.add("bad-test", at, `two tests have the name "${name}"`);
    names.add(name);
  }
  return {
    name: reading.source.name,
    config: mapping.text("config"),
    settings: readSettings(mapping, reading),
    tests,
  };
}

function readSettings(mapping: FieldReader, reading: ReadingState): TestFile["settings"] {
  const node = mapping.node("settings");
  const settings = node && openMapping(node, "settings", "`settings`", reading);
  const flag = (name: string) => settings?.flag(name) ?? false;
  return {
    shadowMode: flag("SHADOW_MODE"),
    quotaMode: flag("QUOTA_MODE"),
    stopIncrementing: flag("STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT"),
    mergeDomains: flag("MERGE_DOMAIN_CONFIG"),
    calendarMonths: flag("USE_CALENDAR_MONTH_RATE_LIMIT"),
  };
}

function readTest(
  node: YamlNode,
  defaults: { readonly domain: string | undefined; readonly start: number },
  reading: ReadingState,
): LimitTest | undefined {
  const mapping = openMapping(node, "test", "a test", reading);
  if (mapping === undefined) return undefined;
  const name = mapping.text("name") ?? "";
  if (mapping.given("name") && name.trim() === "") mapping.fault("name", "`name` must not be empty");
  const domain = mapping.text("domain") ?? defaults.domain;
  const steps = mapping
    .items("steps", "steps")
    .map((item) => readStep(item, domain, reading))
    .filter((one) => one !== undefined);
  const start = mapping.instant("start") ?? defaults.start;
  checkTimes(steps, start, reading);
  return { name, at: mapping.at, start, steps };
}

/** Reports steps that turn the clock back. */
function checkTimes(steps: readonly Step[], start: number, reading: ReadingState): void {
  let now = start;
  for (const step of steps) {
    if (step.kind === "request") continue;
    const next = step.to ?? now + (step.by ?? 0);
    if (next < now) {
      const message = "`advance_to` is before the time that the test has reached: time only advances";
      reading.report.add("bad-test", step.at, message);
    }
    now = Math.max(now, next);
  }
}
