/// <reference lib="es2025.regexp" />
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { scenarios } from "../../chaos/scenarios.ts";

const root = join(import.meta.dirname, "../../../..");
const manual = readFileSync(join(root, "docs/stores.md"), "utf8");
const section = manual.slice(manual.indexOf("## When the store is unavailable"));

describe("docs/stores.md: when the store is unavailable", () => {
  const names = [...section.matchAll(/<!-- test: (.*?) -->/g)].map((match) => match[1]!);
  const files = globSync(
    ["packages/tollgate/{src,test}/counters/**/*.test.ts", "packages/tollgate/test/stores*.test.ts"],
    { cwd: root },
  );
  const sources = files.map((file) => readFileSync(join(root, file), "utf8")).join("\n");
  const known = new Set([
    ...[...sources.matchAll(/\btest\(\s*"((?:[^"\\]|\\.)*)"/g)].map((match) => match[1]!),
    ...scenarios.map(({ store, fault }) => `${store}: ${fault}`),
  ]);

  /** Test names from templates. */
  const made = [...sources.matchAll(/\btest\(\s*`([^`]*)`/g)].map(
    ([, name]) =>
      new RegExp(
        `^${name!
          .split(/\$\{[^}]*\}/)
          .map(RegExp.escape)
          .join("\\S+")}$`,
      ),
  );

  test("names existing tests", () => {
    assert.ok(names.length > 20);
    for (const name of names)
      assert.ok(known.has(name) || made.some((one) => one.test(name)), `no test is called "${name}"`);
  });

  test("names a test at each point", () => {
    const points = section.split(/\n(?=- |\n)/).filter((part) => part.trim().startsWith("- "));
    assert.ok(points.length > 15);
    for (const point of points) assert.match(point, /<!-- test: /, point);
  });

  test("has a row for each chaos scenario", () => {
    for (const { store, fault } of scenarios) assert.ok(section.includes(`| ${store}: ${fault} |`), fault);
  });
});
