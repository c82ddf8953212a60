import { MAX_COUNT } from "../../src/counters/store.ts";
import { unitNames } from "../../src/protocol/units.ts";
import { booleanSpellings } from "../../src/rules/yaml-scalar.ts";
import { type Field, type FieldType, fields, type Place } from "../../src/testing/fields.ts";
import { MAX_REPEAT } from "../../src/testing/read-step.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Editors may read `yes` as a text, as in YAML 1.2. */
const spelledBooleans = booleanSpellings.filter((text) => !/^(?:true|false)$/i.test(text));

const text: Schema = { type: ["string", "number", "boolean", "null"] };
const code: Schema = { enum: ["OK", "OVER_LIMIT", null] };
const definition = (place: Place): Schema => ({ $ref: `#/definitions/${place}` });
const listOf = (...items: Schema[]): Schema => ({ type: "array", items: { anyOf: items } });

function numberFrom(minimum: number, maximum: number): Schema {
  const groups = {
    type: "string",
    pattern: "^[0-9]+(?:_[0-9]*)+$",
    description: "Digits in groups: `1_000`.",
  };
  return { anyOf: [{ type: "integer", minimum, maximum }, groups, { type: "null" }] };
}

const entries: Schema = { type: "string", pattern: "^[^=]+=" };
const anyCase = unitNames
  .slice(1)
  .map((name) => name.replace(/./g, (letter) => `[${letter.toLowerCase()}${letter}]`));

const values: Readonly<Record<FieldType, Schema>> = {
  // The reader reads the text of scalars, so an editor may see a number or a boolean.
  text,
  boolean: { enum: [true, false, null, ...spelledBooleans], default: false },
  count: numberFrom(0, MAX_COUNT),
  repeat: numberFrom(1, MAX_REPEAT),
  instant: { type: ["string", "null"], pattern: "^\\d{4}-\\d\\d-\\d\\d" },
  duration: {
    anyOf: [
      { type: "number", minimum: 0 },
      { type: "string", pattern: "^(?:\\d+(?:\\.\\d+)?(?:ms|[smhd]))+$|^\\d+(?:\\.\\d+)?$" },
      { type: "null" },
    ],
  },
  unit: { type: "string", pattern: `^(?:${anyCase.join("|")})$` },
  entries: { anyOf: [entries, { type: "object", minProperties: 1, additionalProperties: text }] },
  request: {
    anyOf: [entries, definition("descriptor"), { ...listOf(entries, definition("descriptor")), minItems: 1 }],
  },
  code,
  remaining: { anyOf: [...(numberFrom(0, MAX_COUNT).anyOf as Schema[]), { const: "unlimited" }] },
  settings: { anyOf: [definition("settings"), { type: "null" }] },
  limit: { anyOf: [definition("limit"), { type: "null" }] },
  tests: { ...listOf(definition("test")), minItems: 1 },
  steps: listOf(definition("step")),
  expect: { anyOf: [code, definition("expect")] },
  statuses: listOf(code, definition("status")),
};

function property({ name, type, meaning }: Field): [string, Schema] {
  return [name, { description: meaning, ...values[type] }];
}

function mapping(place: Place): Schema {
  const required = fields[place].filter((field) => field.required).map(({ name }) => name);
  return {
    type: "object",
    additionalProperties: false,
    required,
    properties: Object.fromEntries(fields[place].map(property)),
    ...(place === "step" && { oneOf: ["request", "advance", "advance_to"].map(hasField) }),
  };
}

function hasField(name: string): Schema {
  return { required: [name], properties: { [name]: { not: { type: "null" } } } };
}

/** Creates the JSON Schema (draft-07) of a test file from the reader's table of fields. */
export function testsSchema(): Schema {
  const { file, ...others } = Object.fromEntries(
    (Object.keys(fields) as Place[]).map((place) => [place, mapping(place)]),
  );
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Tollgate tests of rate limits",
    ...file,
    definitions: others,
  };
}
