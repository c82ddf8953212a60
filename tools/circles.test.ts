import assert from "node:assert/strict";
import { test } from "node:test";
import { findCircles } from "./circles.ts";

function graphOf(rows: Record<string, string[]>): Map<string, Set<string>> {
  return new Map(Object.entries(rows).map(([from, targets]) => [from, new Set(targets)]));
}

test("a graph without circles has none, and each circle is reported once with all its members", () => {
  const rows: [Record<string, string[]>, string[][]][] = [
    [{}, []],
    [{ a: ["b", "c"], b: ["c"], c: [] }, []],
    [{ a: ["a"] }, []],
    [{ a: ["b"], b: ["a"] }, [["a", "b"]]],
    [{ a: ["b"], b: ["c"], c: ["a", "d"], d: [] }, [["a", "b", "c"]]],
    [
      { a: ["b"], b: ["a", "c"], c: ["d"], d: ["c"] },
      [
        ["a", "b"],
        ["c", "d"],
      ],
    ],
    [{ a: ["b", "c"], b: ["a"], c: ["a"] }, [["a", "b", "c"]]],
  ];
  for (const [graph, circles] of rows) assert.deepEqual(findCircles(graphOf(graph)), circles);
});
