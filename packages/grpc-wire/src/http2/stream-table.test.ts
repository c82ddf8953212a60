import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { StreamTable } from "./stream-table.ts";

test("behaves as a Map", () => {
  const step = fc.record({ id: fc.integer({ min: 0, max: 3000 }).map((n) => n * 2 + 1), add: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const table = new StreamTable<{ id: number }>();
      const model = new Map<number, { id: number }>();
      for (const { id, add } of steps) {
        const there = model.get(id);
        if (add && there === undefined) {
          const stream = { id };
          table.add(stream);
          model.set(id, stream);
        } else if (!add && there !== undefined) {
          table.delete(there);
          table.delete(there);
          model.delete(id);
        }
        assert.equal(table.get(id), model.get(id));
        assert.equal(table.size, model.size);
      }
      assert.deepEqual(new Set(table.list()), new Set(model.values()));
    }),
    { numRuns: 100 },
  );
});

test("finds one long-lived stream among many short ones", () => {
  const table = new StreamTable<{ id: number }>();
  const watch = { id: 1 };
  table.add(watch);
  for (let id = 3; id < 100_001; id += 2) {
    const stream = { id };
    table.add(stream);
    assert.equal(table.get(id), stream);
    table.delete(stream);
  }
  assert.equal(table.get(1), watch);
  assert.equal(table.size, 1);
});
