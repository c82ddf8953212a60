import type { Unit } from "../protocol/messages.ts";
import { unitNames, unitOfName, windowSeconds } from "../protocol/units.ts";
import type { DraftConfig, DraftDescriptor, DraftLimit, DraftReplaces } from "./draft.ts";
import type { Place } from "./fields.ts";
import { nearest } from "./nearest.ts";
import { readMetadata } from "./read-metadata.ts";
import type { ReadingState } from "./reading-state.ts";
import type { Location } from "./rule.ts";
import { checkNames, type Fields, readFields } from "./yaml-fields.ts";
import type { YamlNode } from "./yaml-node.ts";
import { booleanOf, countOf, isNull, kindOf, shortened } from "./yaml-scalar.ts";

/** Reads a whole file. Adds faults to the report and continues after them. */
export function readConfig(root: YamlNode, reading: ReadingState): DraftConfig {
  const file = reading.source.name;
  if (isNull(root)) {
    const message = "the file is empty: a configuration begins with `domain: NAME` and `descriptors:`";
    reading.add("empty-domain", root.offset, message);
    return { file, domain: undefined, domainAt: reading.at(0), descriptors: [] };
  }
  const mapping = readMapping(root, "file", root.offset, "a configuration", reading);
  if (mapping === undefined) return { file, domain: undefined, domainAt: reading.at(0), descriptors: [] };
  const descriptors = mapping.list("descriptors", "descriptors", (node) => readDescriptor(node, reading));
  if (!mapping.has("descriptors")) {
    reading.add(
      "missing-descriptors",
      root.offset,
      "`descriptors` is missing: write `descriptors: []` for a domain without rules",
    );
  }
  return { file, domain: mapping.text("domain"), domainAt: mapping.at("domain"), descriptors };
}

function readDescriptor(node: YamlNode, reading: ReadingState): DraftDescriptor | undefined {
  const mapping = readMapping(node, "descriptor", node.offset, "a descriptor", reading);
  if (mapping === undefined) return undefined;
  const key = mapping.text("key");
  const value = mapping.text("value");
  if (value === "" && mapping.given("value")) {
    const message = "an empty `value` has no effect: the rule matches every value, so leave it out";
    reading.add("empty-value", mapping.offset("value"), message);
  }
  return {
    at: reading.at(node.offset),
    key: value === undefined ? undefined : key,
    keyAt: mapping.at("key"),
    value: value === "" ? undefined : value,
    limit: readLimit(mapping, reading),
    shadowMode: mapping.flag("shadow_mode") ?? false,
    quotaMode: mapping.flag("quota_mode") ?? false,
    detailedMetric: mapping.flag("detailed_metric") ?? false,
    detailedMetricAt: mapping.at("detailed_metric"),
    valueToMetric: mapping.flag("value_to_metric") ?? false,
    shareThreshold: mapping.flag("share_threshold") ?? false,
    shareThresholdAt: mapping.at("share_threshold"),
    metadata: readMetadata(mapping.value("metadata"), reading),
    descriptors: mapping.list("descriptors", "descriptors", (item) => readDescriptor(item, reading)),
  };
}

function readLimit(descriptor: MappingReader, reading: ReadingState): DraftLimit | undefined {
  const node = descriptor.value("rate_limit");
  if (node === undefined) {
    if (descriptor.has("rate_limit")) {
      const message =
        "`rate_limit` is empty, so the rule has no limit: give `unit` and `requests_per_unit`, or leave it out";
      reading.add("null-rate-limit", descriptor.offset("rate_limit"), message);
    }
    return undefined;
  }
  const mapping = readMapping(node, "rate_limit", descriptor.offset("rate_limit"), "`rate_limit`", reading);
  if (mapping === undefined) return undefined;
  return {
    at: descriptor.at("rate_limit"),
    unlimited: mapping.flag("unlimited"),
    unit: readUnit(mapping, reading),
    unitAt: mapping.at("unit"),
    requestsPerUnit: readCount(mapping, reading),
    requestsPerUnitAt: mapping.at("requests_per_unit"),
    name: mapping.text("name") ?? "",
    nameAt: mapping.at("name"),
    replaces: mapping.list("replaces", "mappings with a `name`", (item) => readReplaces(item, reading)),
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
  const node = mapping.value("requests_per_unit");
  if (node === undefined) return "missing";
  const name = "`requests_per_unit`";
  if (node.kind !== "scalar") {
    reading.add("wrong-type", node.offset, `${name} must be a number, not ${kindOf(node)}`);
    return undefined;
  }
  const count = countOf(node);
  if (typeof count === "number") return count;
  reading.add(node.plain ? "bad-number" : "wrong-type", node.offset, `${name} ${count}`);
  return undefined;
}

function readMapping(
  node: YamlNode,
  place: Place,
  offset: number,
  what: string,
  reading: ReadingState,
): MappingReader | undefined {
  if (node.kind !== "mapping") {
    const names = place === "replaces" ? "`- name: NAME`" : "a mapping of names to values";
    reading.add("wrong-type", node.offset || offset, `${what} must be ${names}, not ${kindOf(node)}`);
    return undefined;
  }
  const fields = reading.within(node, () => readFields(node, reading));
  if (fields === undefined) return undefined;
  checkNames(fields, place, reading);
  return new MappingReader(fields, offset, reading);
}

/** Reads the fields of one mapping by type. A null counts as an absent field. */
class MappingReader {
  readonly #fields: Fields;
  readonly #offset: number;
  readonly #reading: ReadingState;

  constructor(fields: Fields, offset: number, reading: ReadingState) {
    this.#fields = fields;
    this.#offset = offset;
    this.#reading = reading;
  }

  has(name: string): boolean {
    return this.#fields.get(name) !== undefined;
  }

  /** Whether the field is present and not null. */
  given(name: string): boolean {
    return this.value(name) !== undefined;
  }

  value(name: string): YamlNode | undefined {
    const node = this.#fields.get(name)?.value;
    return node === undefined || isNull(node) ? undefined : node;
  }

  /** Offset of the field's name; of the mapping if the field is absent. */
  offset(name: string): number {
    return this.#fields.get(name)?.offset ?? this.#offset;
  }

  valueOffset(name: string): number {
    return this.value(name)?.offset ?? this.offset(name);
  }

  /** Place of the field's value; of its name or the mapping if there is no value. */
  at(name: string): Location {
    return this.#reading.at(this.valueOffset(name));
  }

  /** Returns a scalar's text; empty if absent; undefined after a reported fault. */
  text(name: string): string | undefined {
    const node = this.value(name);
    if (node === undefined) return "";
    if (node.kind === "scalar") {
      if (node.text.isWellFormed()) return node.text;
      const message = `\`${name}\` must be Unicode text without lone surrogates (\\uD800 to \\uDFFF): to match bytes that are not UTF-8, use a wildcard or a rule without \`value\``;
      this.#reading.add("lone-surrogate", node.offset, message);
      return undefined;
    }
    this.#reading.add("wrong-type", node.offset, `\`${name}\` must be text, not ${kindOf(node)}`);
    return undefined;
  }

  /** Returns a boolean; false if absent; undefined after a reported fault. */
  flag(name: string): boolean | undefined {
    const node = this.value(name);
    if (node === undefined) return false;
    const value = node.kind === "scalar" ? booleanOf(node) : undefined;
    if (value !== undefined) return value;
    const quoted = node.kind === "scalar" && !node.plain && /^(?:true|false)$/i.test(node.text);
    const right = quoted ? ": remove the quotes" : "";
    this.#reading.add(
      "wrong-type",
      node.offset,
      `\`${name}\` must be true or false, not ${kindOf(node)}${right}`,
    );
    return undefined;
  }

  /** Returns the readable items of a list; empty if absent. */
  list<Item>(name: string, of: string, read: (node: YamlNode) => Item | undefined): readonly Item[] {
    const node = this.value(name);
    if (node === undefined) {
      if (name === "descriptors" && this.has(name)) {
        const message = "`descriptors` is empty: write `[]` if this is intended, or leave it out";
        this.#reading.add("null-descriptors", this.offset(name), message);
      }
      return [];
    }
    if (node.kind !== "sequence") {
      this.#reading.add(
        "wrong-type",
        node.offset,
        `\`${name}\` must be a list of ${of}, not ${kindOf(node)}`,
      );
      return [];
    }
    const items = this.#reading.within(node, () => node.items.map(read));
    return items?.filter((item) => item !== undefined) ?? [];
  }
}
