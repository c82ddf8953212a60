import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Fifo } from "./fifo.ts";

test("returns the same items as an array, in any order of push and shift", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(60), fc.nat(60)), { maxLength: 30 }), (steps) => {
      const fifo = new Fifo<number>();
      const array: number[] = [];
      let next = 0;
      for (const [pushes, shifts] of steps) {
        for (let index = 0; index < pushes; index++) {
          fifo.push(next);
          array.push(next++);
        }
        for (let index = 0; index < shifts; index++) assert.equal(fifo.shift(), array.shift());
        assert.equal(fifo.length, array.length);
      }
    }),
  );
});

test("moves each item at most once on average", () => {
  const fifo = new Fifo<number>();
  const splice = Array.prototype.splice;
  let moved = 0;
  Array.prototype.splice = function (this: unknown[], start: number, count: number) {
    moved += this.length - count;
    return splice.call(this, start, count);
  };
  try {
    for (let index = 0; index < 100_000; index++) fifo.push(index);
    for (let index = 0; index < 100_000; index++) fifo.shift();
  } finally {
    Array.prototype.splice = splice;
  }
  assert.ok(moved <= 100_000, `${moved} moved`);
});
