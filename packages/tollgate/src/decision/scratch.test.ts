import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestPlaces } from "../protocol/scan-request.ts";
import { afterStem, Scratch, ScratchPool } from "./scratch.ts";

/** Sizes of the stems of one request. */
const cases: readonly (readonly [kept: boolean, ...sizes: readonly number[]])[] = [
  [true, 40],
  [true, 256, 1],
  [true, 513],
  [true, 700],
  [true, 600, 300],
  [true, ...new Array<number>(8).fill(70)],
  [true, ...new Array<number>(8).fill(128)],
  [true, 1024],
  [false, 1025],
  [false, ...new Array<number>(8).fill(129)],
];

for (const [kept, ...sizes] of cases)
  test(`the pool ${kept ? "keeps" : "drops"} an object with stems of ${sizes.join(", ")} bytes`, () => {
    const pool = new ScratchPool();
    const scratch = pool.take(1);
    let used = 0;
    for (const [index, size] of sizes.entries()) {
      scratch.room(used, size).fill(index + 1, used, used + size);
      used = afterStem(used + size);
    }
    let at = 0;
    for (const [index, size] of sizes.entries()) {
      assert.ok(scratch.keys.subarray(at, at + size).every((byte) => byte === index + 1));
      at = afterStem(at + size);
    }
    assert.equal(scratch.words.buffer, scratch.keys.buffer);
    assert.equal(scratch.words.byteLength, scratch.keys.length);
    pool.give(scratch);
    assert.equal(pool.take(1) === scratch, kept);
  });

for (const [kept, bytes] of [
  [true, 100],
  [true, 2049],
  [true, 4096],
  [false, 4097],
] as const)
  test(`the pool ${kept ? "keeps" : "drops"} an object with a message of ${bytes} bytes`, () => {
    const pool = new ScratchPool();
    const scratch = new Scratch(1);
    const places = new RequestPlaces();
    places.reset(Buffer.alloc(bytes + 2, 7), 1, bytes + 1);
    scratch.keepMessage(places);
    assert.equal(scratch.messageLength, bytes);
    assert.ok(scratch.message.subarray(0, bytes).equals(Buffer.alloc(bytes, 7)));
    pool.give(scratch);
    assert.equal(pool.take(1) === scratch, kept);
  });
