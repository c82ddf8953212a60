import { MAX_COUNT } from "../counters/store.ts";
import { nearest } from "../rules/nearest.ts";
import type { ReadingState } from "../rules/reading-state.ts";
import type { YamlNode, YamlScalar } from "../rules/yaml-node.ts";
import { kindOf } from "../rules/yaml-scalar.ts";
import { type FieldReader, openMapping } from "./field-reader.ts";
import type { Place } from "./fields.ts";
import type { Expectation, ExpectedCode, ExpectedStatus } from "./test-file.ts";

const CODES: readonly ExpectedCode[] = ["OK", "OVER_LIMIT"];

/**
 * Reads `expect`.
 * @param node undefined if it is absent
 * @param descriptors the number of the request's descriptors
 */
export function readExpectation(
  node: YamlNode | undefined,
  descriptors: number,
  reading: ReadingState,
): Expectation {
  if (node === undefined) return { code: undefined, descriptors: [] };
  if (node.kind === "scalar") return { code: readCode(node, reading), descriptors: [] };
  const mapping = openMapping(node, "expect", "`expect`", reading);
  if (mapping === undefined) return { code: undefined, descriptors: [] };
  const code = codeOf(mapping, reading);
  if (mapping.given("descriptors")) return { code, descriptors: readList(mapping, descriptors, reading) };
  const only = { ...readStatus(mapping), code: undefined };
  const hasMore = only.rule !== undefined || only.remaining !== undefined || only.reset !== undefined;
  if (hasMore && descriptors > 1) {
    const name = ["rule", "remaining", "reset"].find((one) => mapping.given(one))!;
    const message = `the request has ${descriptors} descriptors: write \`${name}\` for each of them, under \`descriptors\``;
    mapping.fault(name, message);
  }
  return { code, descriptors: hasMore ? [only] : [] };
}

function readList(
  mapping: FieldReader,
  descriptors: number,
  reading: ReadingState,
): readonly (ExpectedStatus | undefined)[] {
  for (const name of ["rule", "remaining", "reset"])
    if (mapping.given(name))
      mapping.fault(name, `write \`${name}\` under \`descriptors\` or beside \`code\`, not in both places`);
  const items = mapping.items("descriptors", "expectations");
  if (items.length !== descriptors) {
    const message = `\`descriptors\` must have one item for each descriptor of the request: ${descriptors}, not ${items.length}`;
    mapping.fault("descriptors", message);
  }
  return items.map((item) => {
    if (item.kind === "scalar")
      return { code: readCode(item, reading), rule: undefined, remaining: undefined, reset: undefined };
    const own = openMapping(item, "status" satisfies Place, "an item of `descriptors`", reading);
    return own && { ...readStatus(own), code: codeOf(own, reading) };
  });
}

function codeOf(mapping: FieldReader, reading: ReadingState): ExpectedCode | undefined {
  const node = mapping.node("code");
  if (node === undefined) return undefined;
  if (node.kind === "scalar") return readCode(node, reading);
  reading.add("wrong-type", node.offset, `\`code\` must be OK or OVER_LIMIT, not ${kindOf(node)}`);
  return undefined;
}

function readCode(node: YamlScalar, reading: ReadingState): ExpectedCode | undefined {
  const code = CODES.find((one) => one === node.text);
  if (code !== undefined) return code;
  const near = nearest(node.text, CODES);
  const hint = near === undefined ? "" : `: did you mean ${near}?`;
  reading.add("wrong-type", node.offset, `the code must be OK or OVER_LIMIT, not ${kindOf(node)}${hint}`);
  return undefined;
}

function readStatus(mapping: FieldReader): Omit<ExpectedStatus, "code"> {
  const reset = mapping.duration("reset");
  const remaining = mapping.node("remaining");
  const isUnlimited = remaining?.kind === "scalar" && remaining.text === "unlimited";
  return {
    rule: mapping.text("rule"),
    remaining: isUnlimited ? "unlimited" : mapping.count("remaining", 0, MAX_COUNT),
    reset: reset === undefined ? undefined : Math.round(reset / 1000),
  };
}
