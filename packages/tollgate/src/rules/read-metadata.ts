import type { JsonObject, JsonValue } from "../protocol/messages.ts";
import type { ReadingState } from "./reading-state.ts";
import { readFields } from "./yaml-fields.ts";
import type { YamlNode } from "./yaml-node.ts";
import { jsonScalarOf, kindOf, shortened } from "./yaml-scalar.ts";

/** Reads a rule's `metadata` as plain JSON. */
export function readMetadata(node: YamlNode | undefined, reading: ReadingState): JsonObject | undefined {
  if (node === undefined) return undefined;
  if (node.kind === "mapping") return readObject(node, reading);
  reading.add(
    "wrong-type",
    node.offset,
    `\`metadata\` must be a mapping of names to values, not ${kindOf(node)}`,
  );
  return undefined;
}

function readObject(node: Extract<YamlNode, { kind: "mapping" }>, reading: ReadingState): JsonObject {
  const pairs: [string, JsonValue][] = [];
  for (const { name, value } of readFields(node, reading)) pairs.push([name, readValue(value, reading)]);
  // fromEntries creates own properties for all names, `__proto__` included.
  return Object.fromEntries(pairs);
}

function readValue(node: YamlNode, reading: ReadingState): JsonValue {
  if (node.kind === "mapping") return reading.within(node, () => readObject(node, reading)) ?? null;
  if (node.kind === "sequence") {
    const items = reading.within(node, () => Array.from(node.items, (item) => readValue(item, reading)));
    return items ?? [];
  }
  if (!reading.visit(node)) return null;
  const value = jsonScalarOf(node);
  if (value !== undefined) return value;
  const message = `metadata cannot contain the number ${shortened(node.text)}: if it is text, write it in quotes`;
  reading.add("bad-metadata", node.offset, message);
  return null;
}
