import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { Invalidations, isNewer, slotOf } from "./invalidations.ts";

/** Creates a table with this last number and these marks of all slots. */
function tableAt(last: number, mark = last): Invalidations {
  const table = new Invalidations();
  new Int32Array(table.buffer).fill(mark).set([last]);
  return table;
}

describe("invalidations", () => {
  test("a mark changes with each invalidation of its stem, in every thread", () => {
    const one = new Invalidations();
    const two = new Invalidations(one.buffer);
    const slot = slotOf("a:");
    for (const by of [one, two, one]) {
      const [before, begun] = [one.mark(slot), one.last];
      assert.ok(!isNewer(before, begun));
      by.invalidate("a:");
      for (const table of [one, two]) {
        assert.notEqual(table.mark(slot), before);
        assert.ok(isNewer(table.mark(slot), begun));
        assert.equal(table.last, begun + 1);
      }
    }
  });

  test("other stems keep their marks", () => {
    const table = new Invalidations();
    const stems = Array.from({ length: 200 }, (_, index) => `d|user=${index}|day:`);
    for (const stem of stems) table.invalidate(stem);
    const kept = stems.filter((stem) => stem !== stems[0] && slotOf(stem) !== slotOf(stems[0]!));
    assert.ok(kept.length > 190, "stems are spread over the slots");
    const marks = kept.map((stem) => table.mark(slotOf(stem)));
    table.invalidate(stems[0]!);
    assert.deepEqual(
      kept.map((stem) => table.mark(slotOf(stem))),
      marks,
    );
  });

  test("invalidates all entries at once", () => {
    const table = new Invalidations();
    const begun = table.last;
    table.invalidateAll();
    for (let index = 0; index < 1000; index++) assert.ok(isNewer(table.mark(slotOf(`${index}:`)), begun));
  });

  test("numbers wrap", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(-1, 0, 2 ** 31 - 3, -(2 ** 31), 2 ** 30),
        fc.array(fc.constantFrom("a:", "b:", "c:"), { minLength: 1, maxLength: 12 }),
        (last, stems) => {
          const table = tableAt(last);
          for (const stem of stems) {
            const slot = slotOf(stem);
            const [mark, begun] = [table.mark(slot), table.last];
            assert.ok(!isNewer(mark, begun));
            table.invalidate(stem);
            assert.notEqual(table.mark(slot), mark);
            assert.ok(isNewer(table.mark(slot), begun));
          }
        },
      ),
    );
  });

  test("keeps old marks comparable", () => {
    const table = tableAt(2 ** 30 + 5, 0);
    const quiet = slotOf("quiet:");
    const words = new Int32Array(table.buffer);
    for (let index = 0; index < words.length; index++) table.invalidate("busy:");
    // The numbers advance again and again. Without its refresh the mark would finally compare as newer than the last number.
    for (let round = 0; round < 5; round++) {
      words[0] = (words[0]! + 2 ** 29) | 0;
      for (let index = 0; index < words.length; index++) table.invalidate("busy:");
      assert.ok(!isNewer(table.mark(quiet), table.last), `round ${round}`);
    }
  });
});
