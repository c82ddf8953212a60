import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDiagnostic } from "../../src/rules/diagnostic.ts";
import { loadRules } from "../../src/rules/load-rules.ts";
import { entriesOf } from "./helpers.ts";

function file(name: string, domain: string, ...descriptors: string[]): { name: string; text: string } {
  const list = descriptors.map((descriptor) => `  - { ${descriptor} }\n`).join("");
  return { name, text: `domain: ${domain}\ndescriptors:\n${list}` };
}

const limit = (requests: number) => `rate_limit: { unit: day, requests_per_unit: ${requests} }`;
const separate = { mergeDomains: false };
const merged = { mergeDomains: true };

function messages(files: readonly { name: string; text: string }[], options: { mergeDomains: boolean }) {
  return loadRules(files, options).diagnostics.map(formatDiagnostic);
}

test("several files, several domains", () => {
  const files = [file("b.yaml", "two", `key: k, ${limit(2)}`), file("a.yaml", "one", `key: k, ${limit(1)}`)];
  const { ruleSet, diagnostics } = loadRules(files, separate);
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(ruleSet?.domains, ["one", "two"]);
  assert.deepEqual(
    Array.from(ruleSet?.rules() ?? [], ({ location }) => location?.file),
    ["a.yaml", "b.yaml"],
  );
});

test("two files with one domain are an error without MERGE_DOMAIN_CONFIG", () => {
  const files = [file("b.yaml", "d", `key: b, ${limit(2)}`), file("a.yaml", "d", `key: a, ${limit(1)}`)];
  assert.deepEqual(messages(files, separate), [
    'b.yaml:1:9: the domain "d" is already defined in a.yaml:1:9: put its rules into one file, or set MERGE_DOMAIN_CONFIG=true',
  ]);
  assert.equal(loadRules(files, separate).ruleSet, undefined);
});

test("with MERGE_DOMAIN_CONFIG their rules are merged", () => {
  const files = [file("b.yaml", "d", `key: b, ${limit(2)}`), file("a.yaml", "d", `key: a, ${limit(1)}`)];
  const { ruleSet, diagnostics } = loadRules(files, merged);
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(ruleSet?.domains, ["d"]);
  assert.equal(ruleSet?.match("d", entriesOf("a=1"))?.rule.requestsPerUnit, 1);
  assert.equal(ruleSet?.match("d", entriesOf("b=1"))?.rule.requestsPerUnit, 2);
});

test("merged rules are in the order of the file names, whatever the order of the files", () => {
  const files = [
    file("2.yaml", "d", `key: k, value: "*b*", ${limit(2)}`),
    file("1.yaml", "d", `key: k, value: "*a*", ${limit(1)}`),
    file("3.yaml", "d", `key: k, value: "*c*", ${limit(3)}`),
  ];
  for (const order of [files, files.toReversed()]) {
    const { ruleSet } = loadRules(order, merged);
    assert.equal(ruleSet?.match("d", entriesOf("k=cba"))?.rule.requestsPerUnit, 1);
    assert.equal(ruleSet?.match("d", entriesOf("k=cb"))?.rule.requestsPerUnit, 2);
  }
});

test("a descriptor in two merged files is an error: nested lists are not merged", () => {
  const nested = `key: a, descriptors: [{ key: b, ${limit(1)} }]`;
  assert.deepEqual(messages([file("1.yaml", "d", nested), file("2.yaml", "d", nested)], merged), [
    "2.yaml:3:5: duplicate descriptor `a`: the first is in 1.yaml:3:5",
  ]);
});

test("names and replacements are checked across all files of a domain, after merging", () => {
  const one = file("1.yaml", "d", "key: a, rate_limit: { unlimited: true, replaces: [{ name: n }] }");
  const two = file("2.yaml", "d", "key: b, rate_limit: { unlimited: true, name: n }");
  assert.deepEqual(messages([one, two], merged), []);
  assert.deepEqual(messages([one, { ...two, text: two.text.replace("d\n", "e\n") }], merged), [
    '1.yaml:3:65: warning: no rule of the domain "d" has the name "n"',
  ]);
  const cycle = file(
    "3.yaml",
    "d",
    "key: c, rate_limit: { unlimited: true, name: m, replaces: [{ name: m2 }] }",
  );
  const back = file(
    "4.yaml",
    "d",
    "key: e, rate_limit: { unlimited: true, name: m2, replaces: [{ name: m }] }",
  );
  assert.deepEqual(messages([cycle, back], merged), [
    '4.yaml:3:75: limits replace each other in a circle: "m" replaces "m2" replaces "m"',
  ]);
});

test("a name is not reported as unknown if it may be in an unreadable file", () => {
  const one = file("1.yaml", "d", "key: a, rate_limit: { unlimited: true, replaces: [{ name: n }] }");
  const broken = { name: "2.yaml", text: "domain: [" };
  assert.deepEqual(
    loadRules([one, broken], merged).diagnostics.map(({ code }) => code),
    ["yaml-syntax"],
  );
});

test("all faults of all files are reported at once, in the order of files and lines", () => {
  const files = [
    { name: "b.yaml", text: "domain: [" },
    { name: "a.yaml", text: "domain: d\ndescriptors:\n  - ky: a\n  - key: b\n    rate_limit: {}\n" },
    file("c.yaml", "e", "key: k, shadow_mode: 7"),
  ];
  const places = loadRules(files, separate).diagnostics.map(({ location: { file, line }, code }) => {
    return `${file}:${line} ${code}`;
  });
  assert.deepEqual(places, [
    "a.yaml:3 unknown-key",
    "a.yaml:3 empty-key",
    "a.yaml:5 missing-unit",
    "a.yaml:5 missing-requests-per-unit",
    "b.yaml:1 yaml-syntax",
    "c.yaml:3 wrong-type",
  ]);
});

test("an empty set of files gives a configuration without domains", () => {
  const { ruleSet, diagnostics } = loadRules([], separate);
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(ruleSet?.domains, []);
});

test("a diagnostic contains its source line", () => {
  const [fault] = loadRules(
    [{ name: "a.yaml", text: "domain: d\r\ndescriptors: 5 # five\r\n" }],
    separate,
  ).diagnostics;
  assert.equal(fault?.sourceLine, "descriptors: 5 # five");
  assert.deepEqual(fault?.location, { file: "a.yaml", line: 2, column: 14 });
});

/** A file that is read in parts, in blocks of `descriptors`. */
function large(end: string): { name: string; text: string } {
  const rules = Array.from(
    { length: 4000 },
    (_, index) => `  - { key: k, value: "${index}", ${limit(1)} }\n`,
  );
  return { name: "large.yaml", text: `domain: d\ndescriptors:\n${rules.join("")}${end}` };
}

test("in a large file, rules of different parts are checked against each other", () => {
  const { ruleSet, diagnostics } = loadRules([large(`  - { key: k, value: "7" }\n`)], separate);
  assert.equal(ruleSet, undefined);
  assert.deepEqual(diagnostics.map(formatDiagnostic), [
    "large.yaml:4003:5: duplicate descriptor `k=7`: the first is in large.yaml:10:5",
  ]);
});

test("a warning at the end of a large file does not change its rules", () => {
  const { ruleSet, diagnostics } = loadRules([large(`  - { key: e, descriptors: }\n`)], separate);
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ["null-descriptors"],
  );
  assert.deepEqual(
    Array.from(ruleSet!.rules(), ({ path }) => path[0]),
    Array.from({ length: 4000 }, (_, index) => `k_${index}`),
  );
});

test("names may be in the part of a large file that cannot be read", () => {
  const one = file("a.yaml", "d", "key: a, rate_limit: { unlimited: true, replaces: [{ name: n }] }");
  const broken = large("  - { key: b, rate_limit: { unlimited: true, name: n }\n");
  assert.deepEqual(
    loadRules([one, broken], merged).diagnostics.map(({ code }) => code),
    ["yaml-syntax"],
  );
});

for (const [name, options] of [
  ["merged domains", merged],
  ["separate domains", separate],
] as const)
  test(`the rules of a file before a syntax error count for nothing, however many they are: ${name}`, () => {
    const broken = (
      rules: number,
      first = "key: a, rate_limit: { unit: day, name: n, requests_per_unit: 1 }",
    ) => {
      const many = Array.from({ length: rules }, (_, index) => `key: many, value: "${index}", ${limit(1)}`);
      const { text, ...one } = file("1.yaml", "d", first, ...many);
      return { ...one, text: `${text}  - key: a: b\n` };
    };
    const again = "key: a, rate_limit: { unit: day, name: n, requests_per_unit: 1, replaces: [{ name: m }] }";
    const others = [file("2.yaml", "d", again), file("3.yaml", "d", "key: c", "key: c")];
    const shown = (rules: number, first?: string) =>
      messages([broken(rules, first), ...others], options).map((line) =>
        line.replace(/^1.yaml:\d+/, "1.yaml"),
      );
    for (const first of [undefined, "value: x", "keys: x"])
      assert.deepEqual(shown(2000, first), shown(1, first));
    const [syntax, ...rest] = shown(2000);
    assert.match(syntax!, /^1.yaml:\d+: YAML syntax/);
    assert.ok(rest.length > 0 && rest.every((line) => line.startsWith("3.yaml")));
  });
