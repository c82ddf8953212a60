/** Reads the fields of one mapping by type. */
import type { Place } from "./fields.ts";
import type { ReadingState } from "./reading-state.ts";
import type { Location } from "./rule.ts";
import { checkNames, type Fields, readFields } from "./yaml-fields.ts";
import type { YamlNode } from "./yaml-node.ts";
import { booleanOf, isNull, kindOf } from "./yaml-scalar.ts";

/** Checks the names of a mapping. Returns undefined after a reported fault. */
export function readMapping(
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
export class MappingReader {
  readonly #fields: Fields;
  readonly #offset: number;
  readonly #reading: ReadingState;
  #location: Location | undefined;

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
    return this.has(name) ? this.#reading.at(this.valueOffset(name)) : this.location;
  }

  /** Place of the mapping. */
  get location(): Location {
    this.#location ??= this.#reading.at(this.#offset);
    return this.#location;
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
    const items: Item[] = [];
    this.#reading.within(node, () => {
      for (const one of node.items) {
        const item = read(one);
        if (item !== undefined) items.push(item);
      }
    });
    return items;
  }
}
