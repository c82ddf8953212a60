import { Unit } from "../protocol/messages.ts";
import {
  COLUMN,
  type CompiledRules,
  DETAILED_METRIC,
  DETAILS,
  DOMAIN,
  END,
  FALLBACK,
  FILE,
  FLAGS,
  HAS_LIMIT,
  hashOfStep,
  KEY,
  LINE,
  NO_VALUE,
  NODE,
  PARENT,
  QUOTA_MODE,
  REQUESTS,
  SHADOW_MODE,
  SHARE_THRESHOLD,
  SLOT,
  UNLIMITED,
  VALUE,
  VALUE_TO_METRIC,
} from "./compiled-rules.ts";
import type { DraftDescriptor, DraftLimit } from "./draft.ts";
import { IntList } from "./int-list.ts";
import { bySpecificity, isPattern, parsePattern } from "./pattern.ts";
import type { Location } from "./rule.ts";
import { detailsOf } from "./rule-details.ts";
import { sizeOfTable, type TextIdsBuilder } from "./text-ids-builder.ts";

/** The rules of one domain, from all its files. */
export interface DraftDomain {
  readonly name: string;
  /** Read once. Checked, and without errors. */
  readonly descriptors: Iterable<DraftDescriptor>;
}

/**
 * Compiles rules, each domain once.
 * @param texts the checks of the rules add texts, too
 */
export function compileRules(domains: readonly DraftDomain[], texts: TextIdsBuilder): CompiledRules {
  return new Compiler(texts).compile(domains);
}

/** After a check without errors every descriptor has a key. */
type Keyed = DraftDescriptor & { readonly key: string };

/** The descriptors of one level and key that are tried if no exact value matches. */
interface Others {
  keyOnly: number;
  readonly wildcards: { readonly text: string; readonly node: number }[];
}

class Compiler {
  readonly #texts: TextIdsBuilder;
  readonly #nodes = new IntList();
  readonly #steps = new IntList();
  readonly #fallbacks = new IntList();
  readonly #wildcards = new IntList();
  #size = 0;
  /** The file of the last descriptor, and its number. The next descriptor usually has the same. */
  #file = "";
  #fileId = 0;

  constructor(texts: TextIdsBuilder) {
    this.#texts = texts;
  }

  compile(domains: readonly DraftDomain[]): CompiledRules {
    this.#addNode(0, 0, 0);
    const sorted = domains.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    for (const { name, descriptors } of sorted) {
      const key = this.#texts.add(name);
      const number = this.#addNode(0, key, 0);
      this.#steps.pushFour(0, key, DOMAIN, number);
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
      if (value !== undefined && !isPattern(value)) {
        const id = this.#texts.add(value);
        this.#steps.pushFour(parent, key, id, this.#addDescriptor(parent, key, id, descriptor));
        exact.add(key);
        continue;
      }
      const id = value === undefined ? 0 : this.#texts.addUnsearched(value);
      const number = this.#addDescriptor(parent, key, id, descriptor);
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
    this.#fallbacks.pushFour(keyOnly, start, this.#wildcards.length, hasExact ? 1 : 0);
    this.#steps.pushFour(level, key, NO_VALUE, this.#fallbacks.length / FALLBACK);
  }

  #addDescriptor(parent: number, key: number, value: number, descriptor: DraftDescriptor): number {
    const limit = descriptor.limit ?? descriptor.limits?.items[0];
    const number = this.#addNode(parent, key, value);
    if (limit !== undefined) this.#size++;
    const isCounted = limit?.unlimited !== true && typeof limit?.requestsPerUnit === "number";
    const details = limit === undefined ? 0 : this.#detailsOf(descriptor, limit);
    const at = number * NODE;
    const { numbers } = this.#nodes;
    numbers[at + FLAGS] = flagsOf(descriptor, limit);
    numbers[at + REQUESTS] = isCounted ? (limit.requestsPerUnit as number) : 0;
    numbers[at + DETAILS] = details;
    this.#locate(at, descriptor.at);
    this.#addLevel(number, descriptor.descriptors);
    this.#close(number);
    return number;
  }

  #detailsOf(descriptor: DraftDescriptor, limit: DraftLimit): number {
    const details = detailsOf(descriptor, limit);
    return details === undefined ? 0 : this.#texts.addUnsearched(JSON.stringify(details));
  }

  #addNode(parent: number, key: number, value: number): number {
    const at = this.#nodes.extend(NODE);
    const { numbers } = this.#nodes;
    numbers[at + PARENT] = parent;
    numbers[at + KEY] = key;
    numbers[at + VALUE] = value;
    return at / NODE;
  }

  /** Sets the place of the node at this index. */
  #locate(at: number, { file, line, column, path }: Location): void {
    if (file !== this.#file || this.#fileId === 0) {
      this.#file = file;
      this.#fileId = this.#texts.addUnsearched(file);
    }
    const { numbers } = this.#nodes;
    numbers[at + FILE] = this.#fileId;
    numbers[at + LINE] = line;
    numbers[at + COLUMN] = line > 0 ? column : path === undefined ? 0 : this.#texts.addUnsearched(path);
  }

  #close(number: number): void {
    this.#nodes.numbers[number * NODE + END] = this.#nodes.length / NODE;
  }

  /** Four slots fill one cache line. At most two thirds of them are used. */
  #slots(): Int32Array {
    const { length, numbers } = this.#steps;
    const size = sizeOfTable((length / SLOT) * 1.5);
    const slots = new Int32Array(new SharedArrayBuffer(4 * SLOT * size));
    for (let at = 0; at < length; at += SLOT) {
      let slot = hashOfStep(numbers[at]!, numbers[at + 1]!, numbers[at + 2]!) & (size - 1);
      while (slots[slot * SLOT + 3] !== 0) slot = (slot + 1) & (size - 1);
      for (let part = 0; part < SLOT; part++) slots[slot * SLOT + part] = numbers[at + part]!;
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
