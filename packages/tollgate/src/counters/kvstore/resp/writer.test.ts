import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { placeOf } from "../../../../test/counters/conformance.ts";
import { writeHexadecimal } from "./binary-arguments.ts";
import { CommandWriter, commandHead } from "./writer.ts";

const bulk = (text: string) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;

describe("writing commands", () => {
  test("a count with its expiry", () => {
    const writer = new CommandWriter();
    writer.raw(commandHead(3, "INCRBY"));
    writer.key("d|k=v|hour:", 1_700_000_000);
    writer.integer(7);
    writer.raw(commandHead(3, "EXPIRE"));
    writer.key("d|k=v|hour:", 1_700_000_000);
    writer.integer(3725);
    const key = bulk("d|k=v|hour:1700000000");
    assert.equal(
      writer.bytes().toString(),
      `*3\r\n${bulk("INCRBY")}${key}${bulk("7")}*3\r\n${bulk("EXPIRE")}${key}${bulk("3725")}`,
    );
  });

  test("writes any keys and numbers into one growing, reused buffer", () => {
    const writer = new CommandWriter();
    const part = fc.record({
      stem: fc.oneof(
        fc.string(),
        fc.string({ unit: "binary" }),
        fc.string({ minLength: 90, maxLength: 130 }),
      ),
      start: fc.integer({ min: 0, max: 2 ** 40 }),
      value: fc.maxSafeInteger(),
    });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        writer.reset();
        let expected = "";
        for (const { stem, start, value } of parts) {
          writer.key(stem, start);
          writer.integer(value);
          expected += bulk(stem + start) + bulk(String(value));
          if (!/^[ -~]*$/.test(stem)) continue;
          const bytes = Buffer.from(`..${stem}.`);
          writer.key("", start, placeOf(bytes, 2, bytes.length - 1));
          expected += bulk(stem + start);
          writer.joined("{", "", "}:ends", placeOf(bytes, 2, bytes.length - 1));
          expected += bulk(`{${stem}}:ends`);
        }
        assert.deepEqual(writer.bytes(), Buffer.from(expected));
      }),
      { numRuns: 300 },
    );
  });

  test("writes every number up to 11,000", () => {
    const writer = new CommandWriter();
    const numbers = Array.from({ length: 11_000 }, (_, index) => index);
    for (const number of numbers) writer.integer(number);
    assert.equal(writer.bytes().toString(), numbers.map((number) => bulk(String(number))).join(""));
  });

  test("writes texts of three parts, and words in hexadecimal digits", () => {
    const writer = new CommandWriter();
    const parts = fc.tuple(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "binary", maxLength: 130 }),
      fc.string({ maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(parts), fc.array(fc.integer(), { maxLength: 5 }), (texts, words) => {
        writer.reset();
        for (const [head, middle, tail] of texts) writer.joined(head, middle, tail);
        writeHexadecimal(writer, words);
        const digits = words.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
        assert.deepEqual(
          writer.bytes(),
          Buffer.from([...texts.map((text) => text.join("")), digits].map(bulk).join("")),
        );
      }),
      { numRuns: 300 },
    );
  });

  test("releases the buffer of a huge batch", () => {
    const writer = new CommandWriter();
    writer.text("x".repeat(3_000_000));
    assert.ok(writer.buffer.length >= 3_000_000);
    writer.reset();
    assert.ok(writer.buffer.length < 100_000);
  });
});
