import type { DraftConfig } from "./draft.ts";
import { readConfig } from "./read-config.ts";
import { ReadingState } from "./reading-state.ts";
import { Report } from "./report.ts";
import type { Source } from "./source-text.ts";
import { parseYaml } from "./yaml-parse.ts";
import { parseInParts } from "./yaml-parts.ts";

/**
 * Characters of a part. The events and nodes of 64 Ki characters are gone before the garbage collector copies many of
 * them: 100,000 rules are parsed and read in half of the time, with a third of the memory.
 */
const PART_LENGTH = 64 * 1024;

/** Reads the rules of a file. Returns undefined after a syntax error, which is added to the report. */
export function readRules(
  source: Source,
  report: Report,
  partLength: number = PART_LENGTH,
): DraftConfig | undefined {
  return (
    (source.text.length > 2 * partLength ? readInParts(source, partLength) : undefined) ??
    readWhole(source, report)
  );
}

function readWhole(source: Source, report: Report): DraftConfig | undefined {
  const root = parseYaml(source, report);
  return root && readConfig(root, new ReadingState(source, report));
}

/**
 * Reads a file in parts. Returns undefined if that is not possible, and after any fault: a part that cannot be parsed does
 * not show the fault as the whole file does.
 */
function readInParts(source: Source, partLength: number): DraftConfig | undefined {
  const report = new Report();
  const root = parseInParts(source, report, partLength);
  const config = root && readConfig(root, new ReadingState(source, report));
  return report.isEmpty ? config : undefined;
}
