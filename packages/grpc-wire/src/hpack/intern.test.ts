import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { textOf } from "./intern.ts";

test("returns the text of any octets, cached or not", () => {
  const octets = fc.oneof(fc.uint8Array({ maxLength: 3 }), fc.uint8Array({ maxLength: 40 }));
  fc.assert(
    fc.property(fc.array(octets, { minLength: 1, maxLength: 50 }), fc.nat(5), (all, offset) => {
      for (const each of [...all, ...all]) {
        const bytes = Buffer.concat([Buffer.alloc(offset), each, Buffer.alloc(2)]);
        const text = textOf(bytes, offset, offset + each.length);
        assert.equal(text, Buffer.from(each).toString("latin1"));
      }
    }),
    { numRuns: 300 },
  );
});
