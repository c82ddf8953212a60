import { Unit } from "../protocol/messages.ts";
import {
  type CompiledRules,
  DETAILED_METRIC,
  DOMAIN,
  END,
  FALLBACK,
  HAS_LIMIT,
  hashOfStep,
  NO_VALUE,
  NODE,
  QUOTA_MODE,
  SHADOW_MODE,
  SHARE_THRESHOLD,
  SLOT,
  UNLIMITED,
  VALUE_TO_METRIC,
} from "./compiled-rules.ts";
import type { DraftDescriptor, DraftLimit } from "./draft.ts";
import { IntList } from "./int-list.ts";
import { bySpecificity, isPattern, parsePattern } from "./pattern.ts";
import type { Location } from "./rule.ts";
import { detailsOf } from "./rule-details.ts";
import { sizeOfTable, TextIdsBuilder } from "./text-ids-builder.ts";

/** The rules of one domain, from all its files. */
export interface DraftDomain {
  readonly name: string;
  /** Read once. Checked, and without errors. */
  readonly descriptors: Iterable<DraftDescriptor>;
}

/** Compiles rules, each domain once. */
export function compileRules(domains: readonly DraftDomain[]): CompiledRules {
  return new Compiler().compile(domains);
}

/** After a check without errors every descriptor has a key. */
type Keyed = DraftDescriptor & { readonly key: string };

/** The descriptors of one level and key that are tried if no exact value matches. */
interface Others {
  keyOnly: number;
  readonly wildcards: { readonly text: string; readonly node: number }[];
}

class Compiler {
  readonly #texts = new TextIdsBuilder();
  readonly #nodes = new IntList();
  readonly #steps = new IntList();
  readonly #fallbacks = new IntList();
  readonly #wildcards = new IntList();
  #size = 0;

  compile(domains: readonly DraftDomain[]): CompiledRules {
    this.#addNode(0, 0, 0, 0, 0, undefined, 0);
    const sorted = domains.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    for (const { name, descriptors } of sorted) {
      const key = this.#texts.add(name);
      const number = this.#addNode(0, key, 0, 0, 0, undefined, 0);
      this.#steps.push(0, key, DOMAIN, number);
      this.#addLevel(number, descriptors);
      this.#close(number);
    }
    this.#close(0);
    return {
      texts: this.#texts.finish(),
      nodes: this.#nodes.finish(),
      slots: this.#slots(),
      fallbacks: this.#fallbacks.finish(),
      wildcards: this.#wildcards.finish(),
      size: this.#size,
    };
  }

  #addLevel(parent: number, descriptors: Iterable<DraftDescriptor>): void {
    let others: Map<number, Others> | undefined;
    const exact = new Set<number>();
    for (const descriptor of descriptors) {
      const { value } = descriptor;
      const key = this.#texts.add((descriptor as Keyed).key);
      const number = this.#addDescriptor(parent, key, descriptor);
      if (value !== undefined && !isPattern(value)) {
        this.#steps.push(parent, key, this.#texts.add(value), number);
        exact.add(key);
        continue;
      }
      others ??= new Map();
      let known = others.get(key);
      if (known === undefined) {
        known = { keyOnly: -1, wildcards: [] };
        others.set(key, known);
      }
      if (value === undefined) known.keyOnly = number;
      else known.wildcards.push({ text: value, node: number });
    }
    for (const [key, known] of others ?? []) this.#addFallback(parent, key, known, exact.has(key));
  }

  #addFallback(level: number, key: number, { keyOnly, wildcards }: Others, hasExact: boolean): void {
    const start = this.#wildcards.length;
    const sorted = wildcards
      .map(({ text, node }) => ({ pattern: parsePattern(text), node }))
      .sort((a, b) => bySpecificity(a.pattern, b.pattern));
    for (const { node } of sorted) this.#wildcards.push(node);
    this.#fallbacks.push(keyOnly, start, this.#wildcards.length, hasExact ? 1 : 0);
    this.#steps.push(level, key, NO_VALUE, this.#fallbacks.length / FALLBACK);
  }

  #addDescriptor(parent: number, key: number, descriptor: DraftDescriptor): number {
    const { value, at, descriptors } = descriptor;
    const limit = descriptor.limit ?? descriptor.limits?.items[0];
    const isUnlimited = limit?.unlimited === true;
    if (limit !== undefined) this.#size++;
    const number = this.#addNode(
      parent,
      key,
      value === undefined ? 0 : isPattern(value) ? this.#texts.addUnsearched(value) : this.#texts.add(value),
      flagsOf(descriptor, limit),
      isUnlimited || typeof limit?.requestsPerUnit !== "number" ? 0 : limit.requestsPerUnit,
      at,
      limit === undefined ? 0 : this.#detailsOf(descriptor, limit),
    );
    this.#addLevel(number, descriptors);
    this.#close(number);
    return number;
  }

  #detailsOf(descriptor: DraftDescriptor, limit: DraftLimit): number {
    const details = detailsOf(descriptor, limit);
    return details === undefined ? 0 : this.#texts.addUnsearched(JSON.stringify(details));
  }

  #addNode(
    parent: number,
    key: number,
    value: number,
    flags: number,
    requests: number,
    at: Location | undefined,
    details: number,
  ): number {
    const number = this.#nodes.length / NODE;
    const file = at === undefined ? 0 : this.#texts.addUnsearched(at.file);
    const line = at?.line ?? 0;
    let column = at?.column ?? 0;
    if (line === 0) column = at?.path === undefined ? 0 : this.#texts.addUnsearched(at.path);
    this.#nodes.push(parent, 0, key, value, flags, requests, file, line, column, details);
    return number;
  }

  #close(number: number): void {
    this.#nodes.set(number * NODE + END, this.#nodes.length / NODE);
  }

  /** Four slots fill one cache line. At most two thirds of them are used. */
  #slots(): Int32Array {
    const steps = this.#steps;
    const size = sizeOfTable((steps.length / SLOT) * 1.5);
    const slots = new Int32Array(new SharedArrayBuffer(4 * SLOT * size));
    for (let at = 0; at < steps.length; at += SLOT) {
      let slot = hashOfStep(steps.at(at), steps.at(at + 1), steps.at(at + 2)) & (size - 1);
      while (slots[slot * SLOT + 3] !== 0) slot = (slot + 1) & (size - 1);
      for (let part = 0; part < SLOT; part++) slots[slot * SLOT + part] = steps.at(at + part);
    }
    return slots;
  }
}

function flagsOf(descriptor: DraftDescriptor, limit: DraftLimit | undefined): number {
  const isUnlimited = limit?.unlimited === true;
  const unit = isUnlimited || typeof limit?.unit !== "number" ? Unit.UNKNOWN : limit.unit;
  return (
    unit |
    (limit === undefined ? 0 : HAS_LIMIT) |
    (isUnlimited ? UNLIMITED : 0) |
    (descriptor.shadowMode ? SHADOW_MODE : 0) |
    (descriptor.quotaMode ? QUOTA_MODE : 0) |
    (descriptor.detailedMetric ? DETAILED_METRIC : 0) |
    (descriptor.valueToMetric ? VALUE_TO_METRIC : 0) |
    (descriptor.shareThreshold ? SHARE_THRESHOLD : 0)
  );
}
