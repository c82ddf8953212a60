/** Runs every code block of Waymark's pages with the packed package, in the folder that the first minute creates. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { installPacked } from "./support/packed.ts";
import { blocksOf, quotes } from "./support/pages.ts";
import { Reader } from "./support/reader.ts";

const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));
const pages = globSync(["docs/waymark/*.md", "packages/waymark/README.md", "examples/*/README.md"], {
  cwd: REPOSITORY,
}).sort();
const folder = await installPacked("waymark");

test("the manual has its pages", () => {
  assert.ok(pages.length >= 15, pages.join());
});

test("a quote is lines of the file that follow each other", () => {
  const source = "class A {\n  b() {\n    c();\n\n    d();\n  }\n}\n";
  for (const quote of ["  b() {\n    c();\n", "b() {\n  c();\n", "c();\n\nd();\n"])
    assert.ok(quotes(source, quote), quote);
  for (const quote of ["b() {\n  d();\n", "b() {\nc();\n", "b()\n", "() {\n"])
    assert.ok(!quotes(source, quote), quote);
});

for (const page of pages) {
  test(page, async () => {
    const reader = new Reader(folder);
    try {
      for (const block of blocksOf(readFileSync(join(REPOSITORY, page), "utf8"))) {
        try {
          await reader.read(block);
        } catch (error) {
          throw new Error(`${page}:${block.line}: ${(error as Error).message}`, { cause: error });
        }
      }
    } finally {
      await reader.close();
    }
  });
}
