import assert from "node:assert/strict";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Ajv } from "ajv";
import fc from "fast-check";
import { load as parseYaml } from "js-yaml";
import { startingTests } from "../../src/commands/init-files.ts";
import { formatDiagnostic } from "../../src/rules/diagnostic.ts";
import { readTestFile } from "../../src/testing/read-tests.ts";
import { testsSchema } from "./json-schema.ts";

const root = join(import.meta.dirname, "../..");
const file = join(root, "schema/tests.schema.json");

test("the schema in the package equals the reader's table of fields (UPDATE=1 rewrites it)", () => {
  const text = `${JSON.stringify(testsSchema(), undefined, 2)}\n`;
  if (process.env.UPDATE) writeFileSync(file, text);
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), JSON.parse(text));
});

const validate = new Ajv({ strict: true, allowUnionTypes: true, strictRequired: false }).compile(
  testsSchema(),
);

const examples = globSync("examples/**/*.test.yaml", { cwd: root }).map((name) => ({
  name,
  text: readFileSync(join(root, name), "utf8"),
}));
for (const { name, text } of [...examples, { name: "tollgate init", text: startingTests("shop") }])
  test(`${name} is valid`, () => {
    assert.ok(validate(parseYaml(text)), JSON.stringify(validate.errors));
    assert.deepEqual(readTestFile({ name, text }).diagnostics.map(formatDiagnostic), []);
  });

const or = <Value>(right: fc.Arbitrary<Value>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 30, arbitrary: right },
    { weight: 1, arbitrary: fc.constantFrom<unknown>("", "text", -1, 1.5, 3, true, {}, { x: 1 }) },
  );
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 2 });
const code = fc.constantFrom("OK", "OVER_LIMIT");
const duration = fc.constantFrom<unknown>("1m", "1h30m", 5, 1.5);
const status = {
  code: maybe(or(code)),
  remaining: maybe(or(fc.constantFrom<unknown>(0, 5, "unlimited"))),
  reset: maybe(or(duration)),
};
const descriptor = fc.oneof(
  fc.constant("k=v,l=w"),
  fc.record({
    entries: or(fc.constantFrom<unknown>("k=v", { k: "v", l: 5 })),
    hits: maybe(or(fc.nat(9))),
    refund: maybe(or(fc.boolean())),
    limit: maybe(
      or(fc.record({ requests_per_unit: or(fc.nat(9)), unit: or(fc.constantFrom("day", "WEEK")) })),
    ),
  }),
);
const step = fc.oneof(
  fc.record({ advance: or(duration) }),
  fc.record({
    request: or(descriptor),
    repeat: maybe(or(fc.integer({ min: 1, max: 9 }))),
    hits: maybe(or(fc.nat(9))),
    expect: maybe(or(fc.oneof(code, fc.record({ rule: maybe(fc.constant("d.k")), ...status })))),
  }),
  fc.record({
    request: fc.tuple(or(descriptor), or(descriptor)),
    expect: maybe(fc.record({ code: maybe(or(code)), descriptors: fc.tuple(or(code), fc.record(status)) })),
  }),
);
const document = fc.record({
  domain: fc.constant("d"),
  settings: maybe(or(fc.record({ SHADOW_MODE: or(fc.boolean()) }))),
  tests: or(
    fc.array(fc.record({ name: fc.uuid(), steps: or(fc.array(or(step), { maxLength: 3 })) }), {
      minLength: 1,
    }),
  ),
});

test("the schema accepts exactly the documents that the reader accepts", () => {
  const verdicts = { accepted: 0, refused: 0 };
  fc.assert(
    fc.property(document, (data) => {
      // Of YAML, JSON is a part.
      const text = JSON.stringify(data);
      const { file: read, diagnostics } = readTestFile({ name: "f", text });
      const faults = diagnostics.map(formatDiagnostic).join("\n");
      verdicts[read === undefined ? "refused" : "accepted"]++;
      assert.equal(validate(JSON.parse(text)), read !== undefined, `${text}\n${faults}`);
    }),
    { numRuns: 1000 },
  );
  assert.ok(verdicts.accepted > 50 && verdicts.refused > 50, JSON.stringify(verdicts));
});
