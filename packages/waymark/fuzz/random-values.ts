import type { Definitions, TypeNode } from "../src/signature/model/signature.ts";
import { TEMPORAL_TYPES } from "../src/signature/model/temporal.ts";

/** A source of random numbers from 0 to 1. */
export type Random = () => number;

/** Mulberry32: the same values for the same seed, everywhere. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)]!;
}

const TEXTS = [
  "",
  "a",
  "b",
  "A",
  "x",
  "y",
  "id",
  "red",
  "x-1",
  "x-",
  "a-b-1",
  "a-1",
  "1x",
  "a-2",
  "..",
  "ab.",
  "1",
  "1.5",
  "2026-01-31",
  "https://example.com/",
  "circle",
  "title",
];
const NAMES = [
  "a",
  "b",
  "c",
  "k",
  "id",
  "title",
  "name",
  "kind",
  "r",
  "first",
  "second",
  "value",
  "extra",
  "1",
  "-2",
  "01",
  "ab",
  "a_",
  "at",
  "tags",
  "children",
  "small",
];

/** A text of a query: of any type, or JSON. */
export function anyText(random: Random): string {
  if (random() < 0.3) return JSON.stringify(anyValue(random, 2));
  return pick(random, [...TEXTS, "true", "no", "-1", "0", "null", "12n", "2026-01-31T00:00:00Z"]);
}

/** Any JSON value. */
export function anyValue(random: Random, depth = 3): unknown {
  const kind = random();
  if (kind < 0.3) return pick(random, TEXTS);
  if (kind < 0.5) return pick(random, [0, 1, 2, -1, 1.5, 1e20]);
  if (kind < 0.6) return pick(random, [true, false]);
  if (kind < 0.7 || depth === 0) return null;
  const count = Math.floor(random() * 4);
  if (kind < 0.82) return Array.from({ length: count }, () => anyValue(random, depth - 1));
  return Object.fromEntries(
    Array.from({ length: count }, () => [pick(random, NAMES), anyValue(random, depth - 1)]),
  );
}

/** A JSON value that mostly fits a type. One part in `faults` differs. */
export function valueFor(
  type: TypeNode,
  definitions: Definitions,
  random: Random,
  faults: number,
  depth = 6,
): unknown {
  const own = (part: TypeNode): unknown => valueFor(part, definitions, random, faults, depth - 1);
  if (random() < faults || depth === 0) return anyValue(random, 1);
  switch (type.kind) {
    case "literal":
      return typeof type.value === "object" ? type.value.bigint : type.value;
    case "number":
      return pick(random, [0, 1, 2, -1, 1.5, 1e20]);
    case "bigint":
      return pick(random, ["0", "-1", "12"]);
    case "boolean":
      return random() < 0.5;
    case "date":
      return "2026-01-31";
    case "url":
      return "https://example.com/";
    case "null":
      return null;
    case "temporal":
      return TEMPORAL_TYPES[type.type];
    case "union":
      return own(pick(random, type.members));
    case "array":
      return Array.from({ length: Math.floor(random() * 3) }, () => own(type.items));
    case "tuple": {
      const rest = type.rest ? Array.from({ length: Math.floor(random() * 3) }, () => type.rest!) : [];
      const items = type.items.filter((item, index) => !item.optional || (random() < 0.7 && index >= 0));
      return [...items.map((item) => item.type), ...rest].map(own);
    }
    case "object": {
      const entries = type.properties
        .filter(({ optional }) => random() < (optional ? 0.5 : 1 - faults))
        .map((property) => [property.name, own(property.type)] as [string, unknown]);
      const other = type.index ?? type.patterns?.[0]?.type;
      if (other && random() < 0.7) entries.push([pick(random, NAMES), own(other)]);
      if (random() < faults) entries.push([pick(random, NAMES), anyValue(random, 1)]);
      return Object.fromEntries(entries);
    }
    case "reference":
      return own(definitions[type.name]!);
    case "string":
      return pick(random, TEXTS);
    default:
      return anyValue(random, 2);
  }
}
