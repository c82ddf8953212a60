import assert from "node:assert/strict";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { loadRules } from "../../src/rules/load-rules.ts";

/**
 * Checks the diagnostics of each file of `fixtures/bad/` against the file of the same name that ends in `.expected`.
 * `UPDATE=1 node bad.test.ts` rewrites the expected files: review the difference.
 */
const folder = join(import.meta.dirname, "fixtures/bad");

for (const path of globSync(`${folder}/*.yaml`).sort()) {
  const name = basename(path, ".yaml");
  test(`diagnostics of bad/${name}.yaml`, () => {
    const { diagnostics, ruleSet } = loadRules([{ name: `${name}.yaml`, text: readFileSync(path, "utf8") }], {
      mergeDomains: false,
    });
    const found = diagnostics.map(({ severity, code, message, location }) => {
      return `${location.line}:${location.column} ${severity} ${code}: ${message}\n`;
    });
    const expected = join(folder, `${name}.expected`);
    if (process.env.UPDATE) writeFileSync(expected, found.join(""));
    assert.equal(found.join(""), readFileSync(expected, "utf8"));
    const errors = diagnostics.some(({ severity }) => severity === "error");
    assert.equal(
      ruleSet === undefined,
      errors,
      "there must be a rule set if and only if there are no errors",
    );
    assert.ok(found.length > 0);
  });
}
