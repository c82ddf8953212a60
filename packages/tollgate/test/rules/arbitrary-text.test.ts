import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { scaled } from "../../../../tools/time-scale.ts";
import { type LoadResult, loadResources, loadRules } from "../../src/rules/load-rules.ts";
import type { RateLimitConfigResource } from "../../src/rules/resource.ts";

/** Valid and invalid files. Texts similar to them reach more code than random texts. */
const folders = [
  join(import.meta.dirname, "fixtures/bad"),
  join(import.meta.dirname, "../../examples/config"),
];
const seeds = folders.flatMap((folder) =>
  globSync(`${folder}/*.yaml`)
    .sort()
    .map((file) => readFileSync(file, "utf8")),
);

/** Checks that a load never throws, gives a rule set or an error, and that each diagnostic has a valid location. */
function assertSound({ ruleSet, diagnostics }: LoadResult, texts: readonly string[]): void {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  assert.equal(ruleSet === undefined, errors.length > 0);
  for (const { location, message, sourceLine } of diagnostics) {
    assert.match(message, /^[^\n\r]+$/);
    if (location.line === 0) continue;
    const lines = texts[Number(location.file)]!.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
    assert.ok(location.line <= lines.length, `line ${location.line} of ${lines.length}`);
    assert.ok(location.column <= lines[location.line - 1]!.length + 2, `column ${location.column}`);
    assert.equal(sourceLine, lines[location.line - 1]);
  }
  for (const rule of ruleSet?.rules() ?? []) assert.ok(Object.isFrozen(rule));
}

function loadTexts(texts: readonly string[], mergeDomains: boolean): void {
  const files = texts.map((text, index) => ({ name: String(index), text }));
  assertSound(loadRules(files, { mergeDomains }), texts);
}

const pieces = fc.constantFrom(
  ..."domain: |descriptors:|  - key: a|value: |rate_limit:|unit: minute|requests_per_unit: 1|{|}|[|]|,|: |- |\n|\n  |\n    |&a |*a|<<: *a|\"|'|#|---\n|!!str |? |~|replaces: |name: n|metadata: |\t|\r\n|1|a*|%YAML 1.2\n|\0|\uFEFF"
    .split("|")
    .concat("|", ">"),
);

const texts = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.array(pieces, { maxLength: 60, size: "max" }).map((all) => all.join("")),
);

test("arbitrary text gives diagnostics and never throws", () => {
  fc.assert(fc.property(fc.array(texts, { minLength: 1, maxLength: 3 }), fc.boolean(), loadTexts), {
    numRuns: 3000,
  });
});

test("arbitrary bytes give diagnostics and never throw", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      loadTexts([Buffer.from(bytes).toString("utf8")], false);
    }),
    { numRuns: 500 },
  );
});

/** Removes, repeats and moves pieces of a text, and changes single characters. */
const edits = fc.array(
  fc.record({
    kind: fc.constantFrom("cut", "double", "replace", "insert"),
    at: fc.nat(3000),
    length: fc.nat(40),
    piece: pieces,
  }),
  { minLength: 1, maxLength: 6 },
);

test("changed configurations give diagnostics and never throw", () => {
  fc.assert(
    fc.property(fc.constantFrom(...seeds), edits, fc.boolean(), (seed, all, mergeDomains) => {
      let text = seed;
      for (const { kind, at, length, piece } of all) {
        const start = at % (text.length + 1);
        const end = Math.min(text.length, start + length);
        const cut = text.slice(start, end);
        const middle = { cut: "", double: cut + cut, replace: piece, insert: piece + cut }[kind];
        text = text.slice(0, start) + middle + text.slice(end);
      }
      loadTexts([text, seed], mergeDomains);
    }),
    { numRuns: 3000 },
  );
});

const resources: fc.Arbitrary<RateLimitConfigResource> = fc.letrec((tie) => ({
  descriptor: fc.record(
    {
      key: fc.string({ maxLength: 3 }),
      value: fc.constantFrom("", "a", "a*", "*", "**"),
      rateLimit: fc.record(
        {
          unit: fc.integer({ min: -1, max: 9 }),
          requestsPerUnit: fc.nat(4294967295),
          unlimited: fc.boolean(),
          name: fc.constantFrom("", "a", "b", "c"),
          replaces: fc.array(fc.record({ name: fc.constantFrom("", "a", "b", "c") }), { maxLength: 3 }),
        },
        { requiredKeys: [] },
      ),
      descriptors: fc.oneof({ maxDepth: 3 }, fc.constant([]), fc.array(tie("descriptor"), { maxLength: 4 })),
      shadowMode: fc.boolean(),
    },
    { requiredKeys: ["key"] },
  ),
  resource: fc.record({
    name: fc.constantFrom("", "r1", "r2"),
    domain: fc.constantFrom("", "d", "e"),
    descriptors: fc.array(tie("descriptor"), { maxLength: 5 }),
  }),
})).resource as fc.Arbitrary<RateLimitConfigResource>;

test("arbitrary xDS resources give diagnostics and never throw", () => {
  fc.assert(
    fc.property(fc.array(resources, { maxLength: 3 }), fc.boolean(), (all, mergeDomains) => {
      assertSound(loadResources(all, { mergeDomains }), []);
    }),
    { numRuns: 500 },
  );
});

/** Small files that expand to huge ones. Each must fail quickly, with an error. */
const bombs: Readonly<Record<string, () => string>> = {
  "a billion laughs in metadata": () => {
    const lines = [
      "domain: d",
      "descriptors:",
      "  - key: a",
      "    metadata:",
      "      a0: &a0 [x, x, x, x, x, x, x, x, x]",
    ];
    for (let level = 1; level <= 30; level++) {
      lines.push(
        `      a${level}: &a${level} [${Array(9)
          .fill(`*a${level - 1}`)
          .join(", ")}]`,
      );
    }
    return lines.join("\n");
  },
  "a billion descriptors": () => {
    const lines = ["domain: d", "descriptors:", "  - { key: k, descriptors: &a0 [{ key: a }, { key: b }] }"];
    for (let level = 1; level <= 40; level++) {
      const both = ["a", "b"].map((key) => `{ key: ${key}, descriptors: *a${level - 1} }`).join(", ");
      lines.push(`  - { key: k${level}, descriptors: &a${level} [${both}] }`);
    }
    return lines.join("\n");
  },
  "merge keys that double": () => {
    const lines = ["domain: d", "descriptors:", "  - &a0 { key: a }"];
    for (let level = 1; level <= 40; level++) {
      lines.push(`  - &a${level} { <<: [*a${level - 1}, *a${level - 1}], value: v${level} }`);
    }
    return lines.join("\n");
  },
  "a chain of aliases deeper than any stack": () => {
    const lines = ["domain: d", "descriptors:", "  - key: a", "    metadata:", "      a0: &a0 [x]"];
    for (let level = 1; level <= 50_000; level++) lines.push(`      a${level}: &a${level} [*a${level - 1}]`);
    return lines.join("\n");
  },
  "brackets deeper than any stack": () => `domain: d\ndescriptors: ${"[".repeat(100_000)}`,
  "a file larger than any configuration": () => "#".repeat(32 * 1024 * 1024 + 1),
  "more faults than anyone reads": () => `domain: d\ndescriptors:\n${"  - nokey: a\n".repeat(50_000)}`,
};

for (const [name, text] of Object.entries(bombs)) {
  test(`${name}: fails quickly, with an error`, { timeout: scaled(20_000) }, () => {
    const result = loadRules([{ name: "0", text: text() }], { mergeDomains: false });
    assert.equal(result.ruleSet, undefined);
    assert.ok(result.diagnostics.length > 0 && result.diagnostics.length <= 2001);
  });
}

test("a chain of 20,000 replacements does not overflow the stack", () => {
  const rules = Array.from({ length: 20_000 }, (_, index) => {
    const limit = `{ unlimited: true, name: n${index}, replaces: [{ name: n${index + 1} }] }`;
    return `  - { key: k${index}, rate_limit: ${limit} }`;
  });
  const last = "  - { key: last, rate_limit: { unlimited: true, name: n20000, replaces: [{ name: n0 }] } }";
  const head = "domain: d\ndescriptors:";
  const open = [head, ...rules, last.replace(", replaces: [{ name: n0 }]", "")].join("\n");
  assert.deepEqual(loadRules([{ name: "0", text: open }], { mergeDomains: false }).diagnostics, []);
  const closed = loadRules([{ name: "0", text: [head, ...rules, last].join("\n") }], { mergeDomains: false });
  assert.deepEqual(
    closed.diagnostics.map(({ code }) => code),
    ["replaces-cycle"],
  );
});
