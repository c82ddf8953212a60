import { unitNames } from "../../src/protocol/units.ts";
import { weekdays } from "../../src/rules/calendar-window.ts";
import { type Field, type FieldType, fields, fieldsOf, type Place } from "../../src/rules/fields.ts";
import { algorithmNames, countNames, MAX_LIMITS, MAX_TOKENS, MAX_WINDOW } from "../../src/rules/limit.ts";
import { booleanSpellings } from "../../src/rules/yaml-scalar.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Editors may read `yes` as a text, as in YAML 1.2. */
const spelledBooleans = booleanSpellings.filter((text) => !/^(?:true|false)$/i.test(text));
const trueSpellings = [true, ...spelledBooleans.filter((text) => /^(?:y|yes|on)$/i.test(text))];

const units = unitNames.slice(1).map((name) => name.toLowerCase());
const anyCase = anyCaseOf(units);

function anyCaseOf(names: readonly string[]): readonly string[] {
  return names.map((name) => name.replace(/./g, (letter) => `[${letter}${letter.toUpperCase()}]`));
}

const groups: Schema = {
  type: "string",
  pattern: "^[0-9]+(?:_[0-9]*)+$",
  description: "Digits in groups: `1_000`.",
};

function numberFrom(minimum: number, maximum: number): Schema {
  return { anyOf: [{ type: "integer", minimum, maximum }, groups, { type: "null" }] };
}

function oneOf(names: readonly string[]): Schema {
  return { anyOf: [{ enum: names }, { type: "null" }] };
}

const values: Readonly<Record<FieldType, Schema>> = {
  // The loader reads the text of scalars, so an editor may see a number or a boolean.
  text: { type: ["string", "number", "boolean", "null"] },
  boolean: { enum: [true, false, null, ...spelledBooleans], default: false },
  count: numberFrom(0, Number.MAX_SAFE_INTEGER),
  multiplier: numberFrom(1, MAX_WINDOW),
  burst: numberFrom(1, MAX_TOKENS),
  algorithm: oneOf(algorithmNames),
  counting: oneOf(countNames),
  weekday: oneOf(weekdays),
  unit: {
    anyOf: [{ enum: units }, { type: "string", pattern: `^(?:${anyCase.join("|")})$` }, { type: "null" }],
  },
  metadata: { type: ["object", "null"] },
  descriptors: { type: ["array", "null"], items: { $ref: "#/definitions/descriptor" } },
  rate_limit: { anyOf: [{ $ref: "#/definitions/rate_limit" }, { type: "null" }] },
  rate_limits: {
    type: "array",
    minItems: 1,
    maxItems: MAX_LIMITS,
    items: { $ref: "#/definitions/listed_limit" },
  },
  calendar: { anyOf: [{ $ref: "#/definitions/calendar" }, { type: "null" }] },
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

function absent(names: readonly string[]): Schema {
  return Object.fromEntries(names.map((name) => [name, { type: "null" }]));
}

/** The settings beyond a number and a unit, each with the algorithm that it needs. */
const onlyWith: Readonly<Record<string, string | undefined>> = {
  unit_multiplier: undefined,
  algorithm: undefined,
  burst: "token_bucket",
  count: "fixed_window",
  strict: "fixed_window",
  reservations: undefined,
  calendar: "fixed_window",
};

const calendarUnits = ["day", "week", "month", "year"];

/** Constraints between the settings of a limit with a number and a unit. */
const dependencies: readonly Schema[] = [
  ...algorithmNames.map((name) => {
    const others = Object.keys(onlyWith).filter(
      (one) => onlyWith[one] !== undefined && onlyWith[one] !== name,
    );
    const isDefault = name === "fixed_window";
    return {
      if: {
        ...(!isDefault && { required: ["algorithm"] }),
        properties: { algorithm: { enum: isDefault ? [name, null] : [name] } },
      },
      // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so
      then: {
        properties: {
          ...absent(others.filter((one) => one !== "strict")),
          ...(others.includes("strict") && { strict: { not: { enum: trueSpellings } } }),
          ...(name === "token_bucket" && { requests_per_unit: numberFrom(0, MAX_TOKENS) }),
        },
      },
    };
  }),
  {
    if: { required: ["calendar"], properties: { calendar: given } },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so
    then: {
      properties: {
        unit: { type: "string", pattern: `^(?:${anyCaseOf(calendarUnits).join("|")})$` },
        unit_multiplier: { enum: [1, null] },
      },
    },
  },
];

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
        not: { required: ["rate_limit", "rate_limits"], properties: { rate_limit: given } },
        if: { required: ["share_threshold"], properties: { share_threshold: { enum: trueSpellings } } },
        // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so
        then: { required: ["value"], properties: { value: { type: "string", pattern: "\\*" } } },
      }),
      rate_limit: mapping("rate_limit", {
        if: { required: ["unlimited"], properties: { unlimited: { enum: trueSpellings } } },
        // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so
        then: { properties: absent(["unit", ...Object.keys(onlyWith)]) },
        else: { ...need(unlessUnlimited), allOf: dependencies },
      }),
      listed_limit: {
        ...mapping("rate_limit", { ...need(unlessUnlimited), allOf: dependencies }),
        properties: {
          ...Object.fromEntries(fieldsOf("rate_limit").map(property)),
          unlimited: {
            enum: [false, null, ...spelledBooleans.filter((text) => !trueSpellings.includes(text))],
          },
          replaces: { type: ["array", "null"], maxItems: 0 },
          count: { enum: ["accepted", null] },
        },
      },
      replaces: mapping("replaces"),
      calendar: mapping("calendar"),
    },
  };
}
