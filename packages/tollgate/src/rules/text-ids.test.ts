import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { TextIds } from "./text-ids.ts";
import { TextIdsBuilder } from "./text-ids-builder.ts";

const texts = fc.oneof(fc.string({ maxLength: 6 }), fc.string({ unit: "grapheme", maxLength: 6 }));

test("finds the number of each text from its bytes and from the text, and no other", () => {
  fc.assert(
    fc.property(fc.array(texts, { maxLength: 60 }), texts, (added, other) => {
      const builder = new TextIdsBuilder();
      const model = new Map<string, number>();
      for (const text of added) {
        if (!model.has(text)) model.set(text, model.size + 1);
        assert.equal(builder.add(text), model.get(text));
      }
      const ids = new TextIds(builder.finish());
      for (const text of added) assert.equal(ids.text(model.get(text)!), text);
      for (const text of [...added, other]) {
        const wanted = model.get(text) ?? 0;
        const bytes = Buffer.from(`<${text}>`);
        assert.equal(ids.find(bytes, 1, bytes.length - 1), wanted);
        assert.equal(ids.of(text), wanted);
      }
    }),
  );
});

test("a lone surrogate equals no text of the rules, not even the character that replaces it", () => {
  const builder = new TextIdsBuilder();
  builder.add("\ufffd");
  const ids = new TextIds(builder.finish());
  assert.equal(ids.of("\udcff"), 0);
  assert.equal(ids.find(Buffer.from([0xff]), 0, 1), 0);
});
