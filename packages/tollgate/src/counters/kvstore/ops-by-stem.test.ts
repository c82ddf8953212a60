import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Op } from "./op.ts";
import { OpsByStem } from "./ops-by-stem.ts";

test("finds the newest op of each stem, and none after it is cleared", () => {
  const stems = fc.array(fc.string({ maxLength: 3 }), { maxLength: 200 });
  const table = new OpsByStem();
  fc.assert(
    fc.property(stems, (all) => {
      const ops: Op[] = [];
      const newest = new Map<string, Op>();
      for (const stem of all) {
        const slot = table.slotOf({ stem }, ops);
        assert.equal(table.opAt(slot, ops), newest.get(stem));
        const op = new Op();
        op.stem = stem;
        table.set(slot, ops.push(op) - 1);
        newest.set(stem, op);
      }
      table.clear();
      for (const stem of all) assert.equal(table.opAt(table.slotOf({ stem }, []), []), undefined);
    }),
  );
});

test("1,024 stems with equal hashes are looked up in a bounded number of slots", () => {
  const table = new OpsByStem();
  const ops: Op[] = [];
  let found = 0;
  for (let number = 0; number < 1024; number++) {
    const stem = String(number);
    const slot = table.slotOf({ stem }, ops, 7);
    const op = new Op();
    op.stem = stem;
    table.set(slot, ops.push(op) - 1);
    if (table.opAt(table.slotOf({ stem }, ops, 7), ops) === op) found++;
  }
  assert.equal(found, 16);
});
