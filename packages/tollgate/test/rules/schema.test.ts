import assert from "node:assert/strict";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Ajv } from "ajv";
import fc from "fast-check";
import { load as parseYaml } from "js-yaml";
import type { DiagnosticCode } from "../../src/rules/diagnostic-codes.ts";
import { fieldNames } from "../../src/rules/fields.ts";
import { algorithmNames } from "../../src/rules/limit.ts";
import { load } from "./helpers.ts";
import { rulesSchema } from "./json-schema.ts";

const file = join(import.meta.dirname, "../../schema/rules.schema.json");

test("the schema in the package equals the loader's table of fields (UPDATE=1 rewrites it)", () => {
  const text = `${JSON.stringify(rulesSchema(), undefined, 2)}\n`;
  if (process.env.UPDATE) writeFileSync(file, text);
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), JSON.parse(text));
});

const validate = new Ajv({ strict: true, allowUnionTypes: true, strictRequired: false }).compile(
  rulesSchema(),
);

/** Faults between descriptors, which a schema cannot express. */
const beyond: ReadonlySet<DiagnosticCode> = new Set<DiagnosticCode>([
  "duplicate-descriptor",
  "replaces-itself",
  "replaces-cycle",
  // Of two limits, or of a number and another one, or of the time zone database.
  "equal-limits",
  "window-too-long",
  "unknown-time-zone",
]);

function loaderAccepts(text: string): boolean {
  return !load(text).diagnostics.some(({ severity, code }) => severity === "error" && !beyond.has(code));
}

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 3 });
/** Mostly a valid value, sometimes an arbitrary one. */
const or = <Value>(right: fc.Arbitrary<Value>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 30, arbitrary: right },
    {
      weight: 1,
      arbitrary: fc.constantFrom<unknown>(null, "", "text", "a*", -1, 1.5, 4294967296, 3, true, [], {}, [3]),
    },
  );

const text = fc.constantFrom<unknown>("k", "v*", "*", 5, true, 1.5);
const flag = fc.boolean();
const rateLimit = fc.oneof(
  fc.record({
    unit: or(fc.constantFrom("day", "WEEK", "Minute", "moment")),
    requests_per_unit: or(fc.nat(9)),
  }),
  fc.record({
    unlimited: or(flag),
    unit: maybe(or(fc.constant("day"))),
    requests_per_unit: maybe(or(fc.nat(9))),
    name: maybe(or(text)),
    replaces: maybe(or(fc.array(or(fc.record({ name: or(fc.constant("n")) })), { maxLength: 2 }))),
  }),
);
const settings = {
  unit_multiplier: maybe(or(fc.constantFrom(1, 2, 0, 400_000_000))),
  algorithm: maybe(or(fc.constantFrom("fixed_window", "sliding_window", "token_bucket", "bucket"))),
  burst: maybe(or(fc.constantFrom(1, 50, 0, 1_000_000_001))),
  count: maybe(or(fc.constantFrom("all", "accepted", "none"))),
  strict: maybe(or(flag)),
  reservations: maybe(or(flag)),
  calendar: maybe(
    or(
      fc.record({
        time_zone: maybe(fc.constantFrom<unknown>("UTC", "Europe/Berlin", null)),
        week_starts: maybe(or(fc.constantFrom("monday", "sunday", "Monday"))),
      }),
    ),
  ),
};
const limit = fc.record({
  unit: or(fc.constantFrom("second", "day", "WEEK", "year")),
  requests_per_unit: or(fc.constantFrom(0, 9, 1_000_000_001, 2 ** 53 - 1)),
  ...settings,
});
const listed = fc.record({
  unit: or(fc.constantFrom("second", "minute", "day")),
  requests_per_unit: or(fc.nat(9)),
  name: maybe(or(text)),
  count: maybe(fc.constantFrom("accepted", "all")),
  unlimited: maybe(or(flag)),
  replaces: maybe(fc.constantFrom([], [{ name: "n" }])),
  algorithm: settings.algorithm,
});
const stray = fc.option(fc.constantFrom(...fieldNames, "unknown"), { nil: undefined, freq: 12 });

const descriptors = fc.letrec<{ list: unknown; descriptor: unknown }>((tie) => ({
  list: or(fc.array(tie("descriptor"), { maxLength: 3 })),
  descriptor: or(
    fc
      .record({
        key: or(text),
        value: maybe(or(text)),
        rate_limit: maybe(or(fc.oneof(rateLimit, limit))),
        rate_limits: fc.option(or(fc.array(listed, { maxLength: 3 })), { nil: undefined, freq: 4 }),
        shadow_mode: maybe(or(flag)),
        quota_mode: maybe(or(flag)),
        detailed_metric: maybe(or(flag)),
        value_to_metric: maybe(or(flag)),
        share_threshold: maybe(or(flag)),
        metadata: maybe(or(fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue()))),
        descriptors: fc.oneof({ maxDepth: 2 }, fc.constant(undefined), tie("list")),
        stray,
      })
      .map(({ stray: name, ...rest }) =>
        name === undefined || name in rest ? rest : { ...rest, [name]: "x" },
      ),
  ),
}));

const documents = fc.record({ domain: or(fc.constant("d")), descriptors: descriptors.list });

test("the schema and the loader accept the same documents", () => {
  let accepted = 0;
  let refused = 0;
  fc.assert(
    fc.property(documents, (document) => {
      // JSON omits undefined fields. The schema must check the same document.
      const written = JSON.stringify(document);
      const expected = loaderAccepts(written);
      if (expected) accepted++;
      else refused++;
      assert.equal(validate(JSON.parse(written)), expected, JSON.stringify(validate.errors));
    }),
    { numRuns: 3000 },
  );
  assert.ok(accepted > 300 && refused > 300, `${accepted} accepted, ${refused} refused`);
});

test("the schema and the loader accept the same single settings of every unit and algorithm", () => {
  const settings: readonly Readonly<Record<string, unknown>>[] = [
    {},
    ...[0, 1, 2].map((unit_multiplier) => ({ unit_multiplier })),
    ...[0, 1, 1_000_000_000, 1_000_000_001].map((burst) => ({ burst })),
    ...["all", "accepted"].map((count) => ({ count })),
    ...[true, false].map((strict) => ({ strict })),
    ...[true, false].map((reservations) => ({ reservations })),
    ...[0, 1_000_000_001, 2 ** 53 - 1, 2 ** 53].map((requests_per_unit) => ({ requests_per_unit })),
    ...[{}, { week_starts: "sunday" }, { week_starts: "today" }].map((calendar) => ({ calendar })),
    { calendar: {}, unit_multiplier: 1 },
    { calendar: {}, unit_multiplier: 2 },
    { calendar: {}, count: "accepted", strict: true },
  ];
  let accepted = 0;
  let refused = 0;
  for (const unit of ["second", "minute", "hour", "day", "week", "month", "year"])
    for (const algorithm of [{}, ...algorithmNames.map((algorithm) => ({ algorithm }))])
      for (const setting of settings) {
        const limit = { unit, requests_per_unit: 5, ...algorithm, ...setting };
        for (const own of [{ rate_limit: limit }, { rate_limits: [limit] }]) {
          const document = { domain: "d", descriptors: [{ key: "k", ...own }] };
          const written = JSON.stringify(document);
          const expected = loaderAccepts(written);
          if (expected) accepted++;
          else refused++;
          assert.equal(validate(document), expected, written);
        }
      }
  assert.ok(accepted > 500 && refused > 500, `${accepted} accepted, ${refused} refused`);
});

const ruleFiles = globSync(join(import.meta.dirname, "../../examples/config/*.yaml"), {
  exclude: ["**/*.test.yaml"],
});
for (const path of ruleFiles) {
  test(`the schema accepts the example ${path.split("/").at(-1)}`, () => {
    assert.ok(validate(parseYaml(readFileSync(path, "utf8"))), JSON.stringify(validate.errors));
  });
}

/** Values as editors read them (YAML 1.2), which the loader reads as booleans and numbers. */
const spellings: readonly (readonly [string, boolean])[] = [
  ["{ key: k, shadow_mode: yes }", true],
  ["{ key: k, shadow_mode: Off }", true],
  ["{ key: k, shadow_mode: maybe }", false],
  ["{ key: k, share_threshold: on }", false],
  ['{ key: k, value: "a*", share_threshold: on }', true],
  ["{ key: k, rate_limit: { unlimited: yes } }", true],
  ["{ key: k, rate_limit: { unlimited: yes, unit: day } }", false],
  ["{ key: k, rate_limit: { unlimited: no } }", false],
  ["{ key: k, rate_limit: { unit: day, requests_per_unit: 1_000 } }", true],
  ["{ key: k, rate_limit: { unit: day, requests_per_unit: ten } }", false],
  ["{ key: 010, value: 2020-01-01 }", true],
];
for (const [descriptor, expected] of spellings) {
  test(`the schema ${expected ? "accepts" : "refuses"} ${descriptor}, as the loader does`, () => {
    const written = `domain: d\ndescriptors: [${descriptor}]`;
    assert.equal(validate(parseYaml(written)), expected);
    assert.equal(loaderAccepts(written), expected);
  });
}
