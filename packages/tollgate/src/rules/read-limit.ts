/** Reads `rate_limit` and `rate_limits`. */
import type { Unit } from "../protocol/messages.ts";
import { unitNames, unitOfName, windowSeconds } from "../protocol/units.ts";
import { weekdays } from "./calendar-window.ts";
import type {
  DraftCalendar,
  DraftDescriptor,
  DraftLimit,
  DraftLimitSettings,
  DraftReplaces,
  Given,
} from "./draft.ts";
import { algorithmNames, countNames, MAX_TOKENS, MAX_WINDOW } from "./limit.ts";
import { type MappingReader, readMapping } from "./mapping-reader.ts";
import { nearest } from "./nearest.ts";
import type { ReadingState } from "./reading-state.ts";
import type { YamlNode } from "./yaml-node.ts";
import { countOf, kindOf, shortened } from "./yaml-scalar.ts";

export function readLimit(descriptor: MappingReader, reading: ReadingState): DraftLimit | undefined {
  const node = descriptor.value("rate_limit");
  if (node === undefined) {
    if (descriptor.has("rate_limit")) {
      const message =
        "`rate_limit` is empty, so the rule has no limit: give `unit` and `requests_per_unit`, or leave it out";
      reading.add("null-rate-limit", descriptor.offset("rate_limit"), message);
    }
    return undefined;
  }
  return readFieldsOf(node, descriptor.offset("rate_limit"), "`rate_limit`", reading);
}

/** Reads the list `rate_limits`. */
export function readLimits(descriptor: MappingReader, reading: ReadingState): DraftDescriptor["limits"] {
  if (!descriptor.has("rate_limits")) return undefined;
  const items = descriptor.list("rate_limits", "limits", (node) =>
    readFieldsOf(node, node.offset, "an item of `rate_limits`", reading),
  );
  return { at: descriptor.at("rate_limits"), items };
}

function readFieldsOf(
  node: YamlNode,
  offset: number,
  what: string,
  reading: ReadingState,
): DraftLimit | undefined {
  const mapping = readMapping(node, "rate_limit", offset, what, reading);
  if (mapping === undefined) return undefined;
  const more = readMore(mapping, reading);
  return {
    at: reading.at(node.offset),
    unlimited: mapping.flag("unlimited"),
    unit: readUnit(mapping, reading),
    unitAt: mapping.at("unit"),
    requestsPerUnit: readCount(mapping, reading),
    requestsPerUnitAt: mapping.at("requests_per_unit"),
    name: mapping.text("name") ?? "",
    nameAt: mapping.at("name"),
    replaces: mapping.list("replaces", "mappings with a `name`", (item) => readReplaces(item, reading)),
    more,
  };
}

function readReplaces(node: YamlNode, reading: ReadingState): DraftReplaces | undefined {
  const mapping = readMapping(node, "replaces", node.offset, "an item of `replaces`", reading);
  return mapping && { name: mapping.text("name"), at: mapping.at("name") };
}

/** Shortest first. */
const units = unitNames
  .map((name, unit) => ({ name: name.toLowerCase(), seconds: windowSeconds[unit] ?? 0 }))
  .sort((a, b) => a.seconds - b.seconds)
  .slice(1)
  .map(({ name }) => name);

function readUnit(mapping: MappingReader, reading: ReadingState): Unit | "missing" | undefined {
  const text = mapping.text("unit");
  if (text === undefined) return undefined;
  if (!mapping.given("unit")) return "missing";
  const unit = unitOfName(text);
  if (unit !== undefined) return unit;
  const near = nearest(text, units);
  const right = near === undefined ? `use ${units.join(", ")}` : `did you mean \`${near}\`?`;
  reading.add("unknown-unit", mapping.valueOffset("unit"), `unknown unit "${shortened(text)}": ${right}`);
  return undefined;
}

function readCount(mapping: MappingReader, reading: ReadingState): number | "missing" | undefined {
  if (!mapping.given("requests_per_unit")) return "missing";
  return readNumber(mapping, "requests_per_unit", 0, Number.MAX_SAFE_INTEGER, reading)?.value;
}

/** Reads the settings that most limits do not have. Undefined if there are none. */
function readMore(mapping: MappingReader, reading: ReadingState): DraftLimitSettings | undefined {
  if (!moreNames.some((name) => mapping.given(name))) return undefined;
  const multiplier = readNumber(mapping, "unit_multiplier", 1, MAX_WINDOW, reading);
  const algorithm = readOneOf(mapping, "algorithm", algorithmNames, reading);
  const burst = readNumber(mapping, "burst", 1, MAX_TOKENS, reading);
  const count = readOneOf(mapping, "count", countNames, reading);
  const strict = readFlag(mapping, "strict");
  const reservations = readFlag(mapping, "reservations");
  const calendar = readCalendar(mapping, reading);
  // The settings of an unreadable algorithm are unknown.
  if (algorithm === undefined && mapping.given("algorithm")) return { multiplier };
  return { multiplier, algorithm, burst, count, strict, reservations, calendar };
}

const moreNames = [
  "unit_multiplier",
  "algorithm",
  "burst",
  "count",
  "strict",
  "reservations",
  "calendar",
] as const;

function readFlag(mapping: MappingReader, name: string): Given<boolean> | undefined {
  return mapping.flag(name) ? { value: true, at: mapping.at(name) } : undefined;
}

function readCalendar(limit: MappingReader, reading: ReadingState): DraftCalendar | undefined {
  const node = limit.value("calendar");
  if (node === undefined) return undefined;
  const at = limit.at("calendar");
  const mapping = readMapping(node, "calendar", limit.offset("calendar"), "`calendar`", reading);
  // Without a readable mapping the limit still has a calendar: the checks of the other settings stay right.
  if (mapping === undefined) return { at, timeZone: undefined, weekStarts: undefined };
  const zone = mapping.given("time_zone") ? mapping.text("time_zone") : undefined;
  return {
    at,
    timeZone: zone === undefined ? undefined : { value: zone, at: mapping.at("time_zone") },
    weekStarts: readOneOf(mapping, "week_starts", weekdays, reading),
  };
}

function readNumber(
  mapping: MappingReader,
  name: string,
  min: number,
  max: number,
  reading: ReadingState,
): Given<number> | undefined {
  const node = mapping.value(name);
  if (node === undefined) return undefined;
  if (node.kind !== "scalar") {
    reading.add("wrong-type", node.offset, `\`${name}\` must be a number, not ${kindOf(node)}`);
    return undefined;
  }
  const value = countOf(node, min, max);
  if (typeof value === "number") return { value, at: mapping.at(name) };
  reading.add(node.plain ? "bad-number" : "wrong-type", node.offset, `\`${name}\` ${value}`);
  return undefined;
}

function readOneOf<Name extends string>(
  mapping: MappingReader,
  name: string,
  known: readonly Name[],
  reading: ReadingState,
): Given<Name> | undefined {
  const text = mapping.given(name) ? mapping.text(name) : undefined;
  if (text === undefined) return undefined;
  const found = known.find((one) => one === text);
  if (found !== undefined) return { value: found, at: mapping.at(name) };
  const near = nearest(text, known);
  const right = near === undefined ? `use ${known.join(", ")}` : `did you mean \`${near}\`?`;
  reading.add(
    "unknown-name",
    mapping.valueOffset(name),
    `unknown \`${name}\` "${shortened(text)}": ${right}`,
  );
  return undefined;
}
