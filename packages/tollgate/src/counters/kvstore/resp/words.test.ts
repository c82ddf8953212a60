import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { writeWords } from "./binary-arguments.ts";
import { Words } from "./words.ts";
import { CommandWriter } from "./writer.ts";

const values = (words: Words) => Array.from({ length: words.length }, (_, index) => words.at(index));

describe("words of a script", () => {
  test("are doubles with the low byte first", () => {
    const words = new Words();
    words.push(1);
    assert.deepEqual([...words.bytes], [0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
  });

  test("keep any integers, in one bulk string, in any number", () => {
    const parts = fc.array(fc.array(fc.maxSafeInteger(), { maxLength: 100 }), { minLength: 1, maxLength: 3 });
    const writer = new CommandWriter();
    const lists = [new Words(), new Words(), new Words()];
    const read = new Words();
    fc.assert(
      fc.property(parts, (parts) => {
        writer.reset();
        for (const [i, part] of parts.entries()) {
          lists[i]!.clear();
          for (const [index, value] of part.entries()) assert.equal(lists[i]!.push(value), index);
          assert.deepEqual(values(lists[i]!), part);
        }
        writeWords(writer, ...lists.slice(0, parts.length));
        const all = parts.flat();
        const head = `$${8 * all.length}\r\n`;
        const text = writer.bytes().toString("latin1");
        assert.equal(text.slice(0, head.length), head);
        assert.equal(text.slice(-2), "\r\n");
        assert.ok(read.read(text.slice(head.length, -2)));
        assert.deepEqual(values(read), all);
      }),
      { numRuns: 200 },
    );
  });

  test("increments a word", () => {
    const words = new Words();
    for (const value of [5, 2 ** 52, -1]) words.push(value);
    for (const index of [1, 2, 1]) words.increment(index);
    assert.deepEqual(values(words), [5, 2 ** 52 + 2, 0]);
  });

  test("refuses a reply of another length", () => {
    const words = new Words();
    assert.ok(words.read(""));
    assert.ok(!words.read("1234567"));
    assert.ok(words.read("12345678"));
  });

  test("releases a large buffer", () => {
    const words = new Words();
    for (let i = 0; i < 100_000; i++) words.push(i);
    words.clear();
    assert.ok(words.bytes.buffer.byteLength < 1024);
    words.push(7);
    assert.deepEqual(values(words), [7]);
  });
});
