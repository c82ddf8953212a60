import type { DraftConfig, DraftDescriptor } from "./draft.ts";
import { readMapping } from "./mapping-reader.ts";
import { readLimit, readLimits } from "./read-limit.ts";
import { readMetadata } from "./read-metadata.ts";
import type { ReadingState } from "./reading-state.ts";
import type { YamlNode } from "./yaml-node.ts";
import { isNull } from "./yaml-scalar.ts";

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

export function readDescriptor(node: YamlNode, reading: ReadingState): DraftDescriptor | undefined {
  const mapping = readMapping(node, "descriptor", node.offset, "a descriptor", reading);
  if (mapping === undefined) return undefined;
  const key = mapping.text("key");
  const value = mapping.text("value");
  if (value === "" && mapping.given("value")) {
    const message = "an empty `value` has no effect: the rule matches every value, so leave it out";
    reading.add("empty-value", mapping.offset("value"), message);
  }
  return {
    at: mapping.location,
    key: value === undefined ? undefined : key,
    keyAt: key === "" ? mapping.at("key") : mapping.location,
    value: value === "" ? undefined : value,
    limit: readLimit(mapping, reading),
    limits: readLimits(mapping, reading),
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
