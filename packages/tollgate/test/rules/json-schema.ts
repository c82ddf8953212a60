import { unitNames } from "../../src/protocol/units.ts";
import { type Field, type FieldType, fields, fieldsOf, type Place } from "../../src/rules/fields.ts";
import { booleanSpellings } from "../../src/rules/yaml-scalar.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Editors may read `yes` as a text, as in YAML 1.2. */
const spelledBooleans = booleanSpellings.filter((text) => !/^(?:true|false)$/i.test(text));
const trueSpellings = [true, ...spelledBooleans.filter((text) => /^(?:y|yes|on)$/i.test(text))];

const units = unitNames.slice(1).map((name) => name.toLowerCase());
const anyCase = units.map((unit) => unit.replace(/./g, (letter) => `[${letter}${letter.toUpperCase()}]`));

const values: Readonly<Record<FieldType, Schema>> = {
  // The loader reads the text of scalars, so an editor may see a number or a boolean.
  text: { type: ["string", "number", "boolean", "null"] },
  boolean: { enum: [true, false, null, ...spelledBooleans], default: false },
  count: {
    anyOf: [
      { type: "integer", minimum: 0, maximum: 4_294_967_295 },
      { type: "string", pattern: "^[0-9]+(?:_[0-9]*)+$", description: "Digits in groups: `1_000`." },
      { type: "null" },
    ],
  },
  unit: {
    anyOf: [{ enum: units }, { type: "string", pattern: `^(?:${anyCase.join("|")})$` }, { type: "null" }],
  },
  metadata: { type: ["object", "null"] },
  descriptors: { type: ["array", "null"], items: { $ref: "#/definitions/descriptor" } },
  rate_limit: { anyOf: [{ $ref: "#/definitions/rate_limit" }, { type: "null" }] },
  replaces: { type: ["array", "null"], items: { $ref: "#/definitions/replaces" } },
};

const given: Schema = { not: { type: "null" } };
const filled: Schema = { type: ["string", "number", "boolean"], minLength: 1 };

function property({ name, type, required, meaning }: Field): [string, Schema] {
  const value = type === "text" && required === true ? filled : values[type];
  return [name, { description: meaning, ...value }];
}

function mapping(place: Place, more: Schema = {}): Schema {
  const known = fieldsOf(place);
  return {
    type: "object",
    additionalProperties: false,
    required: known.filter(({ required }) => required === true).map(({ name }) => name),
    properties: Object.fromEntries(known.map(property)),
    ...more,
  };
}

function need(names: readonly string[]): Schema {
  return { required: names, properties: Object.fromEntries(names.map((name) => [name, given])) };
}

/** Creates the JSON Schema (draft-07) of a configuration file from the loader's table of fields. */
export function rulesSchema(): Schema {
  const unlessUnlimited = fields
    .filter(({ required }) => required === "unless unlimited")
    .map(({ name }) => name);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Tollgate rate limit rules",
    ...mapping("file"),
    definitions: {
      descriptor: mapping("descriptor", {
        if: { required: ["share_threshold"], properties: { share_threshold: { enum: trueSpellings } } },
        // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so
        then: { required: ["value"], properties: { value: { type: "string", pattern: "\\*" } } },
      }),
      rate_limit: mapping("rate_limit", {
        if: { required: ["unlimited"], properties: { unlimited: { enum: trueSpellings } } },
        // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so
        then: { properties: { unit: { type: "null" } } },
        else: need(unlessUnlimited),
      }),
      replaces: mapping("replaces"),
    },
  };
}
