import { fieldNames, namesOf, type Place, placeNames, placesOf } from "./fields.ts";
import { nearest } from "./nearest.ts";
import type { ReadingState } from "./reading-state.ts";
import type { YamlMapping, YamlNode } from "./yaml-node.ts";
import { shortened } from "./yaml-scalar.ts";

/** One field of a mapping: its name, the offset of its key, and its value. */
export interface FieldNode {
  readonly name: string;
  readonly offset: number;
  readonly value: YamlNode;
}

/** Up to this number of fields, comparing one by one is faster than a map, and takes a tenth of the memory. */
const FEW = 16;

/** The fields of a mapping by name. */
export class Fields implements Iterable<FieldNode> {
  readonly #all: FieldNode[] = [];
  #byName: Map<string, FieldNode> | undefined;

  get(name: string): FieldNode | undefined {
    if (this.#byName !== undefined) return this.#byName.get(name);
    for (let index = 0; index < this.#all.length; index++)
      if (this.#all[index]!.name === name) return this.#all[index];
    return undefined;
  }

  /** The caller has checked that there is no field of this name. */
  add(field: FieldNode): void {
    this.#all.push(field);
    if (this.#byName !== undefined) this.#byName.set(field.name, field);
    else if (this.#all.length > FEW) this.#byName = new Map(this.#all.map((one) => [one.name, one]));
  }

  [Symbol.iterator](): ArrayIterator<FieldNode> {
    return this.#all[Symbol.iterator]();
  }
}

/** Reads the fields of a mapping by name and applies merge keys (`<<`): own fields win, then the first of a list. */
export function readFields(mapping: YamlMapping, reading: ReadingState): Fields {
  const found = new Fields();
  let merged: YamlNode[] | undefined;
  let mergeKey: YamlNode | undefined;
  for (const { key, value } of mapping.pairs) {
    if (!reading.visit(key)) return found;
    if (key.kind !== "scalar") {
      reading.add(
        "wrong-type",
        key.offset,
        `a key must be text, not a ${key.kind === "mapping" ? "mapping" : "list"}`,
      );
      continue;
    }
    const isMerge = key.plain && key.text === "<<";
    const name = key.text;
    const before = isMerge ? mergeKey : found.get(name);
    if (before !== undefined) {
      const { line } = reading.at(before.offset);
      const message = `duplicate key \`${shortened(key.text)}\`: the first is on line ${line}`;
      reading.add("duplicate-yaml-key", key.offset, message);
    } else if (isMerge) {
      mergeKey = key;
      merged = [value];
    } else found.add({ name, offset: key.offset, value });
  }
  for (const value of merged ?? []) merge(value, found, reading);
  return found;
}

function merge(value: YamlNode, into: Fields, reading: ReadingState): void {
  const sources = value.kind === "sequence" ? value.items : [value];
  for (const source of sources) {
    if (source.kind !== "mapping") {
      reading.add("wrong-type", source.offset, "`<<` must refer to a mapping or a list of mappings");
      continue;
    }
    const fields = reading.within(source, () => readFields(source, reading));
    for (const field of fields ?? []) if (into.get(field.name) === undefined) into.add(field);
  }
}

/** Reports every field that is unknown in this mapping, with a suggestion. */
export function checkNames(found: Fields, place: Place, reading: ReadingState): void {
  const known = namesOf(place);
  for (const { name, offset } of found) {
    if (known.has(name)) continue;
    if (place === "file" && name === "name") {
      // Envoy Gateway's dumps of its resources have it.
      const message = "`name` at the top level has no effect: it is the name of an xDS resource";
      reading.add("ignored-name", offset, message);
      continue;
    }
    const here = placeNames[place];
    const right = rightPlaces(name);
    if (right !== "") {
      reading.add("misplaced-key", offset, `\`${name}\` does not belong ${here}: it belongs ${right}`);
    } else {
      const text = `unknown key \`${shortened(name)}\` ${here}`;
      reading.add("unknown-key", offset, `${text}${suggestion(name, [...known])}`);
    }
  }
}

function rightPlaces(name: string): string {
  return placesOf(name)
    .map((one) => placeNames[one])
    .join(" or ");
}

function suggestion(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  if (near !== undefined) return `: did you mean \`${near}\`?`;
  const elsewhere = nearest(name, fieldNames);
  if (elsewhere !== undefined) {
    return `: did you mean \`${elsewhere}\`, which belongs ${rightPlaces(elsewhere)}?`;
  }
  return `; known here: ${known.join(", ")}`;
}
