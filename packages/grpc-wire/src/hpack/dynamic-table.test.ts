import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DynamicTable } from "./dynamic-table.ts";
import { HeaderField } from "./field.ts";

const field = (name: string, size: number) => new HeaderField(name, 0, true, "", size - name.length - 32);

test("behaves as a list that drops items at its end", () => {
  const step = fc.oneof(
    fc.record({ add: fc.integer({ min: 32, max: 400 }) }),
    fc.record({ resize: fc.integer({ min: 0, max: 4096 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const table = new DynamicTable(4096);
      let capacity = 4096;
      let model: HeaderField[] = [];
      for (const [index, change] of steps.entries()) {
        if ("add" in change) {
          const added = field(`f${index}`, change.add);
          table.add(added);
          model = added.size > capacity ? [] : [added, ...model];
        } else {
          capacity = change.resize;
          table.resize(capacity);
        }
        while (model.reduce((sum, { size }) => sum + size, 0) > capacity) model.pop();
        assert.equal(table.count, model.length);
        assert.equal(
          table.size,
          model.reduce((sum, { size }) => sum + size, 0),
        );
        for (const [place, expected] of model.entries()) assert.equal(table.get(place), expected);
        assert.equal(table.get(model.length), undefined);
      }
    }),
    { numRuns: 100 },
  );
});
