import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { TARGETS } from "../src/build/targets.ts";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

test("the suite of the runtimes runs the table of cases and the kit on each target that the manual promises", () => {
  const rows = [...read("../../../docs/waymark/deployment.md").matchAll(/^\|.*\|$/gm)].join("\n");
  const promised = [...new Set([...rows.matchAll(/`--target=([\w-]+)`/g)].map(([, name]) => name!))].sort();
  assert.deepEqual(promised, Object.keys(TARGETS).sort());
  for (const [suite, except] of [
    ["table", []],
    // Both targets of Lambda have the same parts. The kit's cases include a stream.
    ["kit", ["lambda"]],
  ] as const) {
    const text = read(`../runtimes/${suite}.test.ts`);
    const built = [...text.matchAll(/bundle\("([\w-]+)"/g)].map(([, name]) => name!);
    assert.deepEqual([...new Set([...built, ...except])].sort(), promised, suite);
  }
});
