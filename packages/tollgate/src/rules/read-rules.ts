import type { DraftConfig, DraftDescriptor } from "./draft.ts";
import { readConfig, readDescriptor } from "./read-config.ts";
import { ReadingState } from "./reading-state.ts";
import { Report } from "./report.ts";
import type { Source } from "./source-text.ts";
import { parseYaml } from "./yaml-parse.ts";
import { type FileInParts, parseInParts } from "./yaml-parts.ts";

/**
 * Characters of a part. The events, nodes and drafts of 16 Ki characters are gone before the garbage collector copies many
 * of them: 100,000 rules are parsed and read in half of the time, with a fifth of the memory.
 */
const PART_LENGTH = 16 * 1024;

/**
 * Reads the rules of a file: those of a large one when they are asked for. Returns undefined after a syntax error, which is
 * added to the report. If a part of a large file has any fault, its rules end there, and the file is in `report.readAgain`:
 * only {@link readWhole} shows its faults, and its rules.
 */
export function readRules(
  source: Source,
  report: Report,
  partLength: number = PART_LENGTH,
): DraftConfig | undefined {
  return (
    (source.text.length > 2 * partLength ? readInParts(source, report, partLength) : undefined) ??
    readWhole(source, report)
  );
}

/** Reads the rules of a file at once. Returns undefined after a syntax error, which is added to the report. */
export function readWhole(source: Source, report: Report): DraftConfig | undefined {
  const root = parseYaml(source, report);
  if (root === undefined) report.unread.add(source.name);
  return root && readConfig(root, new ReadingState(source, report));
}

/** Returns undefined if the file cannot be read in parts. */
function readInParts(source: Source, report: Report, partLength: number): DraftConfig | undefined {
  const own = new Report();
  const parts = parseInParts(source, own, partLength);
  if (parts === undefined) return undefined;
  const reading = new ReadingState(source, own);
  const config = readConfig(parts.root, reading);
  return own.isEmpty ? { ...config, descriptors: readItems(parts, reading, report) } : undefined;
}

/** Reads descriptors when they are asked for, until the first fault. */
function* readItems(
  { list, items }: FileInParts,
  reading: ReadingState,
  report: Report,
): Generator<DraftDescriptor> {
  for (const node of items) {
    const descriptor = reading.within(list, () => readDescriptor(node, reading));
    if (descriptor === undefined || !reading.report.isEmpty) break;
    yield descriptor;
  }
  if (!reading.report.isEmpty) report.readAgain.add(reading.source.name);
}
