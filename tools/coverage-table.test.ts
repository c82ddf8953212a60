import assert from "node:assert/strict";
import { test } from "node:test";
import { coverageTable, type FileCoverage } from "./coverage-table.ts";

function file(path: string, covered: number, total: number): FileCoverage {
  return {
    path: `/repository/${path}`,
    totalLineCount: total,
    totalBranchCount: 10,
    totalFunctionCount: 0,
    coveredLineCount: covered,
    coveredBranchCount: 5,
    coveredFunctionCount: 0,
  };
}

test("the coverage table has a row per package, weighted by lines, and marks those below the goal", () => {
  const files = [
    file("packages/b/src/small.ts", 0, 10),
    file("packages/b/src/large.ts", 90, 90),
    file("packages/a/src/half.ts", 50, 100),
  ];
  const lines = coverageTable(files, "/repository").split("\n");
  const words = lines.map((line) => line.split(/ {2,}/));
  assert.deepEqual(words, [
    ["coverage in percent", "lines", "branches", "functions"],
    ["packages/a", "50.0", "50.0", "100.0", "below the goal of 90"],
    ["packages/b", "90.0", "50.0", "100.0"],
    ["the least covered files"],
    ["packages/b/src/small.ts", "0.0", "50.0", "100.0"],
    ["packages/a/src/half.ts", "50.0", "50.0", "100.0"],
    ["packages/b/src/large.ts", "100.0", "50.0", "100.0"],
    [""],
  ]);
});
