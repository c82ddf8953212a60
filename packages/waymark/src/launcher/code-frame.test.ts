import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { codeFrame } from "./code-frame.ts";

const folder = mkdtempSync(join(tmpdir(), "waymark-frame-"));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, "books.ts");
const lines = Array.from({ length: 12 }, (_, at) => `line ${at + 1}`);
lines[6] = "\tGET(id: Map) {}";
lines[10] = `${"x".repeat(300)}!`;
writeFileSync(file, lines.join("\n"));

const cases: readonly (readonly [what: string, message: string, ...frame: readonly string[]])[] = [
  [
    "a line with a column",
    `${file}:7:10: cannot be read (see ${file}:1:1)`,
    "  5 | line 5",
    "  6 | line 6",
    "> 7 |  GET(id: Map) {}",
    "    |          ^",
    "  8 | line 8",
    "  9 | line 9",
  ],
  ["a line alone", `fault in ${file}:1`, "> 1 | line 1", "  2 | line 2", "  3 | line 3"],
  [
    "a long line",
    `${file}:11:301: odd`,
    "   9 |",
    "  10 |",
    `> 11 | ${"x".repeat(54)}!`,
    `     | ${" ".repeat(54)}^`,
    "  12 |",
  ],
  ["a line after the end", `${file}:99:1: odd`],
  ["a missing file", `${file}x.ts:1:1: odd`],
  ["no place", "the prefix does not exist"],
  ["a file of another kind", "/etc/hosts:1:1: odd"],
];
for (const [what, message, ...frame] of cases)
  test(what, () => {
    assert.equal(codeFrame(message), frame.length === 0 ? undefined : frame.join("\n"));
  });
