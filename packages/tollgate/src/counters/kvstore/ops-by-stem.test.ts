import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { makeCount } from "../../../test/counters/conformance.ts";
import { CountOp } from "./count-op.ts";
import { OpsByStem } from "./ops-by-stem.ts";
import { SendMode } from "./part.ts";
import { hashOf } from "./stems.ts";

const newOp = (stem: string) => new CountOp(makeCount({ stem }), hashOf({ stem }), SendMode.PLAIN);

test("finds the newest op of each stem, and none after it is cleared", () => {
  const stems = fc.array(fc.string({ maxLength: 3 }), { maxLength: 200 });
  const table = new OpsByStem<CountOp>();
  fc.assert(
    fc.property(stems, (all) => {
      const newest = new Map<string, CountOp>();
      for (const stem of all) {
        const slot = table.slotOf({ stem });
        assert.equal(table.opAt(slot), newest.get(stem));
        const op = newOp(stem);
        table.set(slot, op);
        newest.set(stem, op);
      }
      table.clear();
      for (const stem of all) assert.equal(table.opAt(table.slotOf({ stem })), undefined);
    }),
  );
});

test("1,024 stems with equal hashes are looked up in a bounded number of slots", () => {
  const table = new OpsByStem<CountOp>();
  let found = 0;
  for (let number = 0; number < 1024; number++) {
    const stem = String(number);
    const op = newOp(stem);
    table.set(table.slotOf({ stem }, 7), op);
    if (table.opAt(table.slotOf({ stem }, 7)) === op) found++;
  }
  assert.equal(found, 16);
});
