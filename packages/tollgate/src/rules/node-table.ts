import type { Entry, Unit } from "../protocol/messages.ts";
import {
  COLUMN,
  type CompiledRules,
  DETAILED_METRIC,
  DETAILS,
  END,
  FILE,
  FLAGS,
  HAS_LIMIT,
  KEY,
  LINE,
  NODE,
  PARENT,
  QUOTA_MODE,
  REQUESTS,
  SHADOW_MODE,
  SHARE_THRESHOLD,
  UNIT_MASK,
  UNLIMITED,
  VALUE,
  VALUE_TO_METRIC,
} from "./compiled-rules.ts";
import { type MetricLevel, metricLevel } from "./metric-key.ts";
import { isPattern } from "./pattern.ts";
import type { Location, Rule } from "./rule.ts";
import { readDetails } from "./rule-details.ts";
import type { TextIds } from "./text-ids.ts";

/** Reads the nodes of compiled rules. Makes objects only for the nodes that a caller asks for, and keeps none. */
export class NodeTable {
  readonly #nodes: Int32Array;
  readonly #texts: TextIds;

  constructor({ nodes }: CompiledRules, texts: TextIds) {
    this.#nodes = nodes;
    this.#texts = texts;
  }

  /** The number of nodes, with the root. */
  get size(): number {
    return this.#nodes.length / NODE;
  }

  key(number: number): string {
    return this.#texts.text(this.keyId(number));
  }

  /** The number of the key's text. Equal keys have equal numbers. */
  keyId(number: number): number {
    return this.#nodes[number * NODE + KEY]!;
  }

  /** Undefined for a key-only rule. */
  value(number: number): string | undefined {
    const id = this.#nodes[number * NODE + VALUE]!;
    return id === 0 ? undefined : this.#texts.text(id);
  }

  hasRule(number: number): boolean {
    return this.#has(number, HAS_LIMIT);
  }

  isUnlimited(number: number): boolean {
    return this.#has(number, UNLIMITED);
  }

  /** The number after the last node below this one. */
  end(number: number): number {
    return this.#nodes[number * NODE + END]!;
  }

  /** Yields the nodes one level below a node, in the order of the configuration. */
  *children(number: number): Generator<number> {
    const end = this.end(number);
    for (let child = number + 1; child < end; child = this.end(child)) yield child;
  }

  location(number: number): Location {
    const nodes = this.#nodes;
    const at = number * NODE;
    const file = this.#texts.text(nodes[at + FILE]!);
    const line = nodes[at + LINE]!;
    const column = nodes[at + COLUMN]!;
    if (line > 0) return { file, line, column };
    return { file, line, column: 0, ...(column > 0 && { path: this.#texts.text(column) }) };
  }

  /** Returns the rule of a node with a limit. */
  rule(number: number): Rule {
    const path = this.#path(number);
    const domain = this.key(path[0]!);
    const flags = this.#nodes[number * NODE + FLAGS]!;
    const details = this.#nodes[number * NODE + DETAILS]!;
    return Object.freeze({
      domain,
      path: Object.freeze(path.slice(1).map((one) => this.#segment(one))),
      requestsPerUnit: this.#nodes[number * NODE + REQUESTS]! >>> 0,
      unit: (flags & UNIT_MASK) as Unit,
      unlimited: (flags & UNLIMITED) !== 0,
      shadowMode: (flags & SHADOW_MODE) !== 0,
      quotaMode: (flags & QUOTA_MODE) !== 0,
      ...readDetails(details === 0 ? undefined : this.#texts.text(details)),
      detailedMetric: (flags & DETAILED_METRIC) !== 0,
      valueToMetric: (flags & VALUE_TO_METRIC) !== 0,
      shareThreshold: (flags & SHARE_THRESHOLD) !== 0,
      location: this.location(number),
    });
  }

  domain(number: number): string {
    return this.key(this.#path(number)[0]!);
  }

  /** The levels from the top to a node. */
  metricLevels(number: number): readonly MetricLevel[] {
    return this.#path(number)
      .slice(1)
      .map((one) => this.metricLevel(one, this.key(one)));
  }

  /** The level of one node. */
  metricLevel(number: number, key: string): MetricLevel {
    return metricLevel({
      key,
      value: this.value(number),
      detailedMetric: this.#has(number, DETAILED_METRIC),
      valueToMetric: this.#has(number, VALUE_TO_METRIC),
      shareThreshold: this.#has(number, SHARE_THRESHOLD),
    });
  }

  /** The only entries that match a node; undefined if there are several. */
  fixedEntries(number: number): readonly Entry[] | undefined {
    const entries: Entry[] = [];
    for (const one of this.#path(number).slice(1)) {
      const value = this.value(one);
      if (value === undefined || isPattern(value)) return undefined;
      entries.push({ key: this.key(one), value });
    }
    return entries;
  }

  /** For each level, the pattern that its values share (`share_threshold`); undefined as a whole if there is none. */
  sharedValues(number: number): readonly (string | undefined)[] | undefined {
    const path = this.#path(number).slice(1);
    if (!path.some((one) => this.#has(one, SHARE_THRESHOLD))) return undefined;
    return Object.freeze(path.map((one) => (this.#has(one, SHARE_THRESHOLD) ? this.value(one) : undefined)));
  }

  #has(number: number, flag: number): boolean {
    return (this.#nodes[number * NODE + FLAGS]! & flag) !== 0;
  }

  #segment(number: number): string {
    const value = this.value(number);
    return value === undefined ? this.key(number) : `${this.key(number)}_${value}`;
  }

  /** The nodes from the domain to this one. */
  #path(number: number): number[] {
    const path: number[] = [];
    for (let at = number; at !== 0; at = this.#nodes[at * NODE + PARENT]!) path.push(at);
    return path.reverse();
  }
}
