import { MAX_COUNT } from "../counters/store.ts";
import type { LimitOverride } from "../protocol/messages.ts";
import type { ReadingState } from "../rules/reading-state.ts";
import type { YamlNode } from "../rules/yaml-node.ts";
import { type FieldReader, openMapping } from "./field-reader.ts";
import { readEntries } from "./read-entries.ts";
import { readExpectation } from "./read-expectation.ts";
import type { AdvanceStep, RequestStep, Step } from "./test-file.ts";

/** Maximum requests of one step. */
export const MAX_REPEAT = 1_000_000;
const MAX_UINT32 = 0xffff_ffff;

type Descriptor = RequestStep["request"]["descriptors"][number];

export function readStep(
  node: YamlNode,
  domain: string | undefined,
  reading: ReadingState,
): Step | undefined {
  const mapping = openMapping(node, "step", "a step", reading);
  if (mapping === undefined) return undefined;
  const kinds = ["request", "advance", "advance_to"].filter((name) => mapping.given(name));
  if (kinds.length !== 1) {
    const message = "a step has exactly one of `request`, `advance` and `advance_to`";
    reading.add("bad-test", node.offset, message);
    return undefined;
  }
  return kinds[0] === "request" ? readRequest(mapping, domain, reading) : readAdvance(mapping);
}

function readAdvance(mapping: FieldReader): AdvanceStep {
  for (const name of ["domain", "hits", "repeat", "expect"])
    if (mapping.given(name)) mapping.fault(name, `\`${name}\` belongs in a step with a request`);
  return {
    kind: "advance",
    at: mapping.at,
    by: mapping.duration("advance"),
    to: mapping.instant("advance_to"),
  };
}

function readRequest(
  mapping: FieldReader,
  inherited: string | undefined,
  reading: ReadingState,
): RequestStep | undefined {
  const domain = mapping.text("domain") ?? inherited;
  if (domain === undefined || domain === "") {
    const message = "the request has no domain: write `domain` here, in the test or at the top level";
    mapping.fault("request", message);
  }
  const hits = mapping.count("hits", 0, MAX_COUNT);
  const node = mapping.node("request")!;
  const nodes = node.kind === "sequence" ? mapping.items("request", "descriptors") : [node];
  if (nodes.length === 0) mapping.fault("request", "`request` has no descriptor");
  const descriptors = nodes.map((one) => readDescriptor(one, hits, reading));
  const expect = readExpectation(mapping.node("expect"), nodes.length, reading);
  return {
    kind: "request",
    at: mapping.at,
    request: {
      domain: domain ?? "",
      descriptors: descriptors.filter((one) => one !== undefined),
      hitsAddend: 0,
    },
    repeat: mapping.count("repeat", 1, MAX_REPEAT) ?? 1,
    expect,
  };
}

function readDescriptor(
  node: YamlNode,
  hits: number | undefined,
  reading: ReadingState,
): Descriptor | undefined {
  if (node.kind === "scalar") {
    const entries = readEntries(node, reading);
    return { entries, limit: undefined, hitsAddend: hits, isNegativeHits: false };
  }
  const mapping = openMapping(node, "descriptor", "a descriptor", reading);
  if (mapping === undefined) return undefined;
  const entries = mapping.node("entries");
  return {
    entries: entries === undefined ? [] : readEntries(entries, reading),
    limit: readLimit(mapping.node("limit"), reading),
    hitsAddend: mapping.count("hits", 0, MAX_COUNT) ?? hits,
    isNegativeHits: mapping.flag("refund"),
  };
}

function readLimit(node: YamlNode | undefined, reading: ReadingState): LimitOverride | undefined {
  const mapping = node && openMapping(node, "limit", "`limit`", reading);
  if (mapping === undefined) return undefined;
  return {
    requestsPerUnit: mapping.count("requests_per_unit", 0, MAX_UINT32) ?? 0,
    unit: mapping.unit("unit") ?? 0,
    unitMultiplier: mapping.count("unit_multiplier", 1, MAX_UINT32),
  };
}
