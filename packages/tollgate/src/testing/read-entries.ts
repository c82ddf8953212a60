import { EntriesTextError, entriesFromText } from "../protocol/entries-text.ts";
import type { Entry } from "../protocol/messages.ts";
import type { ReadingState } from "../rules/reading-state.ts";
import { readFields } from "../rules/yaml-fields.ts";
import type { YamlNode } from "../rules/yaml-node.ts";
import { isNull, kindOf } from "../rules/yaml-scalar.ts";

/** Reads the entries of a descriptor: `key=value,key=value`, or a mapping of keys to values. */
export function readEntries(node: YamlNode, reading: ReadingState): readonly Entry[] {
  if (node.kind === "scalar") return fromText(node.text, node.offset, reading);
  if (node.kind === "mapping") return fromMapping(node, reading);
  const message = `entries must be \`key=value,key=value\` or a mapping of keys to values, not ${kindOf(node)}`;
  reading.add("wrong-type", node.offset, message);
  return [];
}

function fromText(text: string, offset: number, reading: ReadingState): readonly Entry[] {
  try {
    return entriesFromText(text);
  } catch (error) {
    if (!(error instanceof EntriesTextError)) throw error;
    reading.add("wrong-type", offset, error.message);
    return [];
  }
}

function fromMapping(node: YamlNode & { kind: "mapping" }, reading: ReadingState): readonly Entry[] {
  const found = reading.within(node, () => readFields(node, reading)) ?? [];
  const entries: Entry[] = [];
  for (const { name, value } of found) {
    if (value.kind === "scalar") entries.push({ key: name, value: isNull(value) ? "" : value.text });
    else reading.add("wrong-type", value.offset, `the value of an entry must be text, not ${kindOf(value)}`);
  }
  if (node.pairs.length === 0) reading.add("bad-test", node.offset, "a descriptor needs at least one entry");
  return entries;
}
