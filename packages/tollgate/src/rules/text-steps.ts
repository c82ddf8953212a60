import { DOMAIN, FALLBACK, NO_VALUE } from "./compiled-rules.ts";
import { NO_NODE } from "./rule.ts";
import { StepTable } from "./step-table.ts";

/** Steps from texts: for requests that are not messages, and for explanations. */
export class TextSteps extends StepTable {
  /** Returns the number of a domain's node, or 0. */
  domain(name: string): number {
    const id = this.texts.of(name);
    return id === 0 ? 0 : this.target(0, id, DOMAIN);
  }

  /** Returns the number of the most specific node for a key and a value at a level, or -1. */
  step(level: number, key: string, value: string): number {
    const keyId = this.texts.of(key);
    if (keyId === 0) return NO_NODE;
    const exact = this.#exact(level, keyId, this.texts.of(value));
    if (exact !== 0) return exact;
    const fallback = this.fallback(level, keyId);
    return fallback === undefined ? NO_NODE : (fallback.wildcards?.find(value) ?? fallback.keyOnly);
  }

  /** Returns the number of the node with exactly this value, or 0. */
  exact(level: number, key: string, value: string): number {
    return this.#exact(level, this.texts.of(key), this.texts.of(value));
  }

  /** Returns the number of the node without a value, or -1. */
  keyOnly(level: number, key: string): number {
    const at = this.#fallbackPlace(level, key);
    return at < 0 ? -1 : this.fallbacks[at]!;
  }

  /** Returns the numbers of the nodes with wildcards, most specific first. */
  wildcards(level: number, key: string): readonly number[] {
    const at = this.#fallbackPlace(level, key);
    return at < 0 ? [] : [...this.rangeAt(at)];
  }

  #fallbackPlace(level: number, key: string): number {
    const keyId = this.texts.of(key);
    return keyId === 0 ? -1 : (this.target(level, keyId, NO_VALUE) - 1) * FALLBACK;
  }

  #exact(level: number, key: number, value: number): number {
    return key === 0 || value === 0 ? 0 : this.target(level, key, value);
  }
}
