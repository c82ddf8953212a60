import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { encodeRequest } from "../protocol/encode-request.ts";
import { RequestPlaces } from "../protocol/scan-request.ts";
import { completed } from "./completed.ts";
import { parsePattern } from "./pattern.ts";
import { WildcardIndex } from "./wildcards.ts";

const piece = fc.constantFrom("a", "ab", "é", "/", "語", "x", "\\xFF", "F");
const pattern = fc
  .tuple(
    fc.array(piece, { maxLength: 2 }),
    fc.array(piece, { maxLength: 1 }),
    fc.array(piece, { maxLength: 2 }),
  )
  .map(([prefix, middle, suffix]) => `${prefix.join("")}*${middle.join("")}*${suffix.join("")}`)
  .chain((text) => fc.constantFrom(text, text.replace("**", "*")));
const bytes = fc
  .array(fc.oneof(piece, fc.constantFrom(0xff, 0xc3, 0xa9, 0xe8, 0x80)), { maxLength: 6 })
  .map((parts) =>
    Buffer.concat(parts.map((part) => (typeof part === "number" ? Buffer.of(part) : Buffer.from(part)))),
  );

test("a pattern matches the bytes of a value exactly if it matches its text", () => {
  const places = new RequestPlaces();
  let compared = 0;
  fc.assert(
    fc.property(fc.uniqueArray(pattern, { minLength: 1, maxLength: 6 }), bytes, (patterns, value) => {
      const index = completed(
        WildcardIndex.make(patterns.map((text) => ({ pattern: parsePattern(text), target: { text } }))),
      );
      if (index.bytes === undefined) return;
      const empty = encodeRequest({ domain: "d", descriptors: [], hitsAddend: 0 });
      const message = Buffer.concat([empty, value]);
      places.scan(message, 0, empty.length);
      const [start, end] = [empty.length, message.length];
      compared++;
      assert.equal(index.bytes.find(message, start, end), index.find(places.text(start, end)));
    }),
    { numRuns: 4000 },
  );
  assert.ok(compared > 100, `${compared} values were compared as bytes`);
});
