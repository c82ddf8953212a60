/** Reads the fields of one mapping of a test file by type. */
import { unitNames, unitOfName } from "../protocol/units.ts";
import { MappingReader } from "../rules/mapping-reader.ts";
import { nearest } from "../rules/nearest.ts";
import type { ReadingState } from "../rules/reading-state.ts";
import type { Location } from "../rules/rule.ts";
import { readFields } from "../rules/yaml-fields.ts";
import type { YamlNode } from "../rules/yaml-node.ts";
import { countOf, kindOf, shortened } from "../rules/yaml-scalar.ts";
import { fields, type Place, placeNames } from "./fields.ts";
import { durationOf, instantOf } from "./time-text.ts";

/** Opens a mapping and checks its names. Undefined after a reported fault. */
export function openMapping(
  node: YamlNode,
  place: Place,
  what: string,
  reading: ReadingState,
): FieldReader | undefined {
  if (node.kind !== "mapping") {
    const message = `${what} must be a mapping of names to values, not ${kindOf(node)}`;
    reading.add("wrong-type", node.offset, message);
    return undefined;
  }
  const found = reading.within(node, () => readFields(node, reading));
  if (found === undefined) return undefined;
  const known = fields[place].map(({ name }) => name);
  for (const { name, offset } of found) {
    if (known.includes(name)) continue;
    const near = nearest(name, known);
    const hint = near === undefined ? `; known here: ${known.join(", ")}` : `: did you mean \`${near}\`?`;
    reading.add("unknown-key", offset, `unknown key \`${shortened(name)}\` ${placeNames[place]}${hint}`);
  }
  for (const { name, required } of fields[place]) {
    if (required && found.get(name) === undefined)
      reading.add("bad-test", node.offset, `\`${name}\` is missing ${placeNames[place]}`);
  }
  return new FieldReader(new MappingReader(found, node.offset, reading), node.offset, reading);
}

/** Reads fields by type. Each method returns undefined for an absent field, and after a reported fault. */
export class FieldReader {
  readonly #mapping: MappingReader;
  readonly #reading: ReadingState;
  readonly at: Location;

  constructor(mapping: MappingReader, offset: number, reading: ReadingState) {
    this.#mapping = mapping;
    this.#reading = reading;
    this.at = reading.at(offset);
  }

  node(name: string): YamlNode | undefined {
    return this.#mapping.value(name);
  }

  given(name: string): boolean {
    return this.#mapping.given(name);
  }

  /** Reports a fault at a field. */
  fault(name: string, message: string): void {
    this.#reading.add("bad-test", this.#mapping.offset(name), message);
  }

  text(name: string): string | undefined {
    return this.given(name) ? this.#mapping.text(name) : undefined;
  }

  flag(name: string): boolean {
    return this.#mapping.flag(name) ?? false;
  }

  count(name: string, min: number, max: number): number | undefined {
    const node = this.node(name);
    if (node === undefined) return undefined;
    const number = node.kind === "scalar" ? countOf(node, min, max) : `must be a number, not ${kindOf(node)}`;
    if (typeof number === "number") return number;
    this.#reading.add("bad-number", node.offset, `\`${name}\` ${number}`);
    return undefined;
  }

  /** Milliseconds. */
  duration(name: string): number | undefined {
    return this.#parse(name, durationOf, "must be a duration such as 30s, 5m or 1h30m, at most ten years");
  }

  /** Milliseconds since the epoch. */
  instant(name: string): number | undefined {
    return this.#parse(
      name,
      instantOf,
      "must be a date and a time with a zone, such as 2026-01-31T12:00:00Z",
    );
  }

  unit(name: string): ReturnType<typeof unitOfName> {
    const names = unitNames.slice(1).join(", ").toLowerCase();
    return this.#parse(name, unitOfName, `must be one of ${names}`);
  }

  /** The items of a list. Empty if it is absent. */
  items(name: string, of: string): readonly YamlNode[] {
    return this.#mapping.list(name, of, (node) => node);
  }

  /** @param right the end of a sentence that begins with the name */
  #parse<Value>(name: string, parse: (text: string) => Value | undefined, right: string): Value | undefined {
    const node = this.node(name);
    if (node === undefined) return undefined;
    const value = node.kind === "scalar" ? parse(node.text) : undefined;
    if (value === undefined)
      this.#reading.add("wrong-type", node.offset, `\`${name}\` ${right}, not ${kindOf(node)}`);
    return value;
  }
}
