import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { readRules } from "./read-rules.ts";
import { Report } from "./report.ts";
import { Source } from "./source-text.ts";
import { parseInParts } from "./yaml-parts.ts";

/** Reads a text in parts of this many characters, as a load does. Returns the rules and the diagnostics. */
function read(text: string, partLength: number) {
  const source = new Source("rules.yaml", text);
  const report = new Report();
  report.addSource(source);
  const config = readRules(source, report, partLength);
  const descriptors = Array.from(config?.descriptors ?? []);
  if (report.readAgain.size > 0) return read(text, Number.POSITIVE_INFINITY);
  return { config: config && { ...config, descriptors }, diagnostics: report.finish() };
}

/** Whether a text is read in parts, not as a whole after an attempt. */
function isInParts(text: string): boolean {
  const report = new Report();
  const parts = parseInParts(new Source("rules.yaml", text), report, 1);
  return parts !== undefined && Array.from(parts.items).length > 0 && report.isEmpty;
}

function assertEqual(text: string): void {
  const whole = read(text, Number.POSITIVE_INFINITY);
  for (const length of [1, 40]) assert.deepEqual(read(text, length), whole);
}

const item = (key: string) => `  - key: ${key}\n    rate_limit: { unit: hour, requests_per_unit: 1 }\n`;
const two = item("a") + item("b");
const flush = two.replaceAll(/^ {2}/gm, "");

const inParts: Readonly<Record<string, string>> = {
  "a domain and a list": `domain: d\ndescriptors:\n${two}`,
  "a list in the column of its key": `domain: d\ndescriptors:\n${flush}`,
  "the domain after the list": `descriptors:\n${flush}domain: d\n`,
  "the domain after an indented list, with comments": `descriptors: # rules\n\n# first\n${two}# end\ndomain: d # d\n`,
  "a document's markers": `%YAML 1.2\n---\ndomain: d\ndescriptors:\n${two}...\n`,
  "Windows line ends": `domain: d\ndescriptors:\n${two}`.replaceAll("\n", "\r\n"),
  "no end of the last line": `domain: d\ndescriptors:\n  - key: a\n  - key: b`,
  "comments of any column between items": `domain: d\ndescriptors:\n${item("a")}# c\n      # c\n${item("b")}`,
  "an anchor of an item before": `domain: d\ndescriptors:\n  - &a { key: a, value: x }\n${two}  - { <<: *a, value: y }\n`,
  "lists in items": `domain: d\ndescriptors:\n  - key: a\n    descriptors:\n      - key: b\n      - key: c\n${two}`,
  "texts with lines like items": `domain: d\ndescriptors:\n  - key: |\n      a\n        - key: b\n  - key: "x\n      - y"\n    value: plain\n      - z\n${two}`,
};

for (const [name, text] of Object.entries(inParts))
  test(`${name}: read in parts, like the whole file`, () => {
    assert.ok(isInParts(text));
    assertEqual(text);
  });

const asWhole: Readonly<Record<string, string>> = {
  "a fault in the last item": `domain: d\ndescriptors:\n${two}  - keys: a\n`,
  "a syntax error in the last item": `domain: d\ndescriptors:\n${two}  - key: a: b\n`,
  "a quote that is not closed": `domain: d\ndescriptors:\n  - key: "a\n${two}`,
  "a bracket that is not closed": `domain: d\ndescriptors:\n  - [\n${two}  - ]\n`,
  "a root in flow style": `{ domain: d,\ndescriptors:\n${two}}`,
  "a list in flow style": `domain: d\ndescriptors: [\n  { key: a },\n  { key: b }]\n`,
  "a list with an anchor": `domain: d\ndescriptors: &a\n${two}x: *a\n`,
  "an anchor after the list": `descriptors:\n  - *a\n${two}domain: &a d\n`,
  "the key in a text": `domain: |\n\ndescriptors:\n${two}`,
  "the key in a quoted text": `domain: "d\ndescriptors:\n${two}"`,
  "the key twice": `descriptors:\n${two}descriptors:\n${two}`,
  "a second document": `domain: d\ndescriptors:\n${two}---\ndomain: e\n`,
  "the end of the document between items": `domain: d\ndescriptors:\n${item("a")}...\n${item("b")}`,
  "items in two columns": `domain: d\ndescriptors:\n${two} - key: c\n`,
  "a mapping after the list": `domain: d\ndescriptors:\n${two}  c: d\n`,
  "a tab before an item": `domain: d\ndescriptors:\n${two}\t- key: c\n`,
  "an empty item": `domain: d\ndescriptors:\n${two}  -\n  # c\n  -\n`,
  "an alias without an anchor": `domain: d\ndescriptors:\n${two}  - *a\n`,
  "a mapping that ends in the middle of a line": `descriptors:\n- { key: a }domain: d\n`,
  "an unknown tag": `domain: d\ndescriptors:\n${two}  - !x { key: c }\n`,
};

for (const [name, text] of Object.entries(asWhole))
  test(`${name}: the same rules and diagnostics as of the whole file`, () => {
    assertEqual(text);
  });

test("the limit on nesting is the same", () => {
  for (let depth = 190; depth < 210; depth++)
    assertEqual(
      `domain: d\ndescriptors:\n${two}  - key: c\n    metadata: { a: ${"[".repeat(depth)}${"]".repeat(depth)} }\n`,
    );
});

const folders = ["../../test/rules/fixtures/bad", "../../examples/config"];
const files = folders.flatMap((folder) =>
  globSync(`${join(import.meta.dirname, folder)}/*.yaml`)
    .sort()
    .map((file) => readFileSync(file, "utf8")),
);

test("the examples and the faulty files are read alike", () => {
  for (const text of files) assertEqual(text);
  assert.ok(files.filter(isInParts).length > 5);
});

const pieces = fc.constantFrom(
  ..."domain: d\n~descriptors:\n~descriptors:~  - key: a\n~- key: a\n~    value: b\n~  value: b\n~  - ~- ~-\n~: ~|\n~>-\n~|1\n~\n~\r~\r\n~  ~    ~{ key: a }~[~]~{~}~, ~&a ~*a~<<: *a~\"~'~# c~---\n~...\n~!!str ~!!map ~!x ~? ~x~\t~\uFEFF~%YAML 1.2\n".split(
    "~",
  ),
);
const texts = fc
  .tuple(
    fc.constantFrom("domain: d\ndescriptors:\n", "descriptors:\n", "", "---\ndescriptors: # c\n"),
    fc.array(pieces, { maxLength: 30, size: "max" }),
    fc.constantFrom("", "domain: d\n", "- key: z\n", "  - key: z\n"),
  )
  .map(([head, middle, end]) => `${head}${middle.join("")}${end}`);

test("any text is read like the whole file", () => {
  fc.assert(fc.property(texts, assertEqual), { numRuns: 1000 });
});

/** Changes of valid files reach more of the parser than texts of pieces. */
const edits = fc.array(fc.tuple(fc.nat(2000), fc.nat(10), pieces), { minLength: 1, maxLength: 4 });

test("a changed file is read like the whole file", () => {
  const seeds = [...Object.values(inParts), ...files];
  fc.assert(
    fc.property(fc.constantFrom(...seeds), edits, (seed, all) => {
      let text = seed;
      for (const [at, length, piece] of all) {
        const from = at % (text.length + 1);
        text = text.slice(0, from) + piece + text.slice(from + length);
      }
      assertEqual(text);
    }),
    { numRuns: 1000 },
  );
});
