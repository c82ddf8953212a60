/** The figures of the algorithms of limits: what passes is computed again, and both pages name the same figures. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { accuracyTable } from "../bench/limits/accuracy.ts";
import { plots } from "../bench/limits/plots.ts";

const docs = join(import.meta.dirname, "../docs");
const page = (name: string) => readFileSync(join(docs, name), "utf8");

function cellsOf(line: string): readonly string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

test("both pages have the hits that each algorithm lets pass", () => {
  const table = accuracyTable();
  assert.ok(page("performance.md").includes(`\n${table}\n`), "docs/performance.md");
  for (const row of table.split("\n").slice(2)) {
    const [name = "", ...passed] = cellsOf(row);
    // The manual has no row of its own for a window of accepted hits, which lets the same hits pass.
    if (name.includes("count")) continue;
    const [algorithm, burst] = name.split(", ");
    const title = burst === undefined ? `\`${algorithm}\`` : `\`${algorithm}\`, \`${burst}\``;
    const figures = passed.map((cell) => cell.replace(/ of \d+,/, ","));
    assert.ok(
      page("rules.md").includes(`\n| ${[title, ...figures].join(" | ")} |\n`),
      `docs/rules.md: ${name}`,
    );
  }
});

test("the plots of the manual are those of the algorithms", () => {
  for (const [file, svg] of plots()) assert.equal(page(`limits/${file}.svg`), svg, file);
});

test("the manual's range of CPU is that of the table in docs/performance.md", () => {
  const [, table = ""] = /### CPU of a call\n[\s\S]*?\n(\|[\s\S]*?)\n\n/.exec(page("performance.md")) ?? [];
  const ratios = table
    .split("\n")
    .slice(3)
    .map((row) => Array.from(row.matchAll(/\((\d\.\d\d)\)/g), ([, ratio]) => ratio!));
  const range = (of: readonly string[]) => `${of.toSorted()[0]} to ${of.toSorted().at(-1)} times`;
  const single = ratios.slice(0, -1).flat();
  assert.equal(single.length, 10);
  const text = page("rules.md").replaceAll("\n", " ");
  assert.ok(
    text.includes(`A call under one limit of any algorithm takes ${range(single)} the CPU`),
    range(single),
  );
  assert.ok(text.includes(`A list of two limits takes ${range(ratios.at(-1)!)}.`), range(ratios.at(-1)!));
});
