/**
 * Parses a large file in parts of whole items of its list `descriptors`. The parts are as valid as the file: YAML ends the
 * content of an item at the next line that begins in the item's column, so such a line with a dash begins an item.
 * `yaml-parts.test.ts` compares the results with those of the whole file.
 */
import { COLLECTION_STYLE, EVENT_ID } from "js-yaml";
import type { Report } from "./report.ts";
import type { Source } from "./source-text.ts";
import { Composer } from "./yaml-composer.ts";
import type { YamlMapping, YamlNode, YamlScalar } from "./yaml-node.ts";
import { eventsOrReport, MAX_DEPTH } from "./yaml-parse.ts";

const KEY = "descriptors";
const SPACE = 0x20;
const TAB = 0x09;
const DASH = 0x2d;
const HASH = 0x23;

/** The places of the list and its items. */
interface ListBounds {
  /** Offset of the key. */
  readonly key: number;
  /** Offset of the first dash. */
  readonly offset: number;
  /** Offset of the line after the key's. */
  readonly start: number;
  /** Offset of the line after the list's last, or the end of the file. */
  readonly end: number;
  /** The column of the dashes. */
  readonly column: number;
}

/** A file whose list is read in parts. */
export interface FileInParts {
  /** The root without the items. */
  readonly root: YamlNode;
  /** The list without its items. */
  readonly list: YamlNode;
  /** Composed when they are asked for. Incomplete after any entry in the report. */
  readonly items: Iterable<YamlNode>;
}

/** Parses a file in parts. Returns undefined if it has no list in block style at the top level. */
export function parseInParts(source: Source, report: Report, partLength: number): FileInParts | undefined {
  const bounds = findList(source.text);
  if (bounds === undefined) return undefined;
  const composer = new Composer(source, report);
  const root = composeRest(source, bounds, composer, report);
  if (root === undefined) return undefined;
  const list = { kind: "sequence", offset: bounds.offset, items: [] } as const;
  const pairs = root.pairs.map((pair) => (isList(pair.key, bounds) ? { key: pair.key, value: list } : pair));
  const items = composeItems(source, bounds, partLength, composer, report);
  return { root: { ...root, pairs }, list, items };
}

/** Finds a list in block style at the top level, as it looks like. `composeRest` checks that it is one. */
function findList(text: string): ListBounds | undefined {
  const key = text.startsWith(`${KEY}:`) ? 0 : text.indexOf(`\n${KEY}:`) + 1;
  if (key === 0 && !text.startsWith(`${KEY}:`)) return undefined;
  const afterKey = key + KEY.length + 1;
  const start = nextLine(text, afterKey);
  if (!isBlank(text, afterKey, start)) return undefined;
  let first = start;
  while (first < text.length && isBlank(text, first, nextLine(text, first))) first = nextLine(text, first);
  const column = indentOf(text, first);
  if (!isItem(text, first, column)) return undefined;
  return { key, offset: first + column, start, end: endOfList(text, first, column), column };
}

/** Returns where the last lines begin that belong to the mapping around the list, such as `domain`. */
function endOfList(text: string, first: number, column: number): number {
  let end = text.length;
  for (let line = end; line > first; ) {
    line = text.lastIndexOf("\n", line - 2) + 1;
    if (isBlank(text, line, nextLine(text, line))) continue;
    const indent = indentOf(text, line);
    if (indent > column || isItem(text, line, column)) break;
    end = line;
  }
  return end;
}

/** Composes what is around the list. Returns undefined if the list is not a plain value of the root mapping. */
function composeRest(
  source: Source,
  bounds: ListBounds,
  composer: Composer,
  report: Report,
): YamlMapping | undefined {
  const { start, end } = bounds;
  const text = source.text.slice(0, start) + source.text.slice(end);
  const events = eventsOrReport(text, source, report);
  const first = events?.[1];
  if (events === undefined || first?.type !== EVENT_ID.MAPPING || first.style !== COLLECTION_STYLE.BLOCK)
    return undefined;
  const root = composer.compose(events, { text, cut: start, gap: end - start });
  // An anchor after the list must not be known in the list.
  if (root.kind !== "mapping" || composer.hasAnchors) return undefined;
  const list = root.pairs.find(({ key }) => isList(key, bounds));
  return list !== undefined && isNothing(list.value) ? root : undefined;
}

/** Composes the items, one part after the other. Ends at the first fault. */
function* composeItems(
  source: Source,
  { offset, start, end, column }: ListBounds,
  partLength: number,
  composer: Composer,
  report: Report,
): Generator<YamlNode> {
  for (let from = start; from < end && report.isEmpty; ) {
    const to = endOfPart(source.text, Math.max(from, offset) + partLength, end, column);
    const text = source.text.slice(from, to);
    // The root mapping around the list takes one level.
    const events = eventsOrReport(text, source, report, MAX_DEPTH - 1);
    if (events === undefined) return;
    const part = composer.compose(events, { text, cut: 0, gap: from });
    const [document] = events;
    const isMarked = document?.type !== EVENT_ID.DOCUMENT || document.explicitStart || document.explicitEnd;
    if (part.kind !== "sequence" || isMarked) {
      report.add("yaml-syntax", source.locate(from), "this part of the file is not only a list");
      return;
    }
    yield* part.items;
    from = to;
  }
}

/** Returns where the first item after an offset begins. */
function endOfPart(text: string, from: number, end: number, column: number): number {
  const before = `\n${" ".repeat(column)}-`;
  for (let at = text.indexOf(before, from - 1); at >= 0 && at + 1 < end; at = text.indexOf(before, at + 1))
    if (isItem(text, at + 1, column)) return at + 1;
  return end;
}

function isList(key: YamlNode, bounds: ListBounds): key is YamlScalar {
  return key.kind === "scalar" && key.offset === bounds.key && key.text === KEY;
}

function isNothing(value: YamlNode): boolean {
  return value.kind === "scalar" && value.plain && value.text === "";
}

function nextLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end + 1;
}

/** Whether a line, or the rest of one, has spaces and a comment only. */
function isBlank(text: string, from: number, to: number): boolean {
  let at = from;
  while (at < to && (text.charCodeAt(at) === SPACE || text.charCodeAt(at) === TAB)) at++;
  return at === to || text.charCodeAt(at) === HASH || /^\r?\n$/.test(text.slice(at, to));
}

function indentOf(text: string, line: number): number {
  let at = line;
  while (text.charCodeAt(at) === SPACE) at++;
  return at - line;
}

/** Whether an item begins with this line. */
function isItem(text: string, line: number, column: number): boolean {
  if (indentOf(text, line) !== column || text.charCodeAt(line + column) !== DASH) return false;
  const next = text[line + column + 1];
  return next === undefined || /[ \t\r\n]/.test(next);
}
