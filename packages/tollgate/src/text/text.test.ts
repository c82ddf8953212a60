import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  bytesOfSurrogate,
  decodeLeniently,
  escapeLoneSurrogates,
  isEscaped,
  isSurrogate,
} from "./lenient-utf8.ts";
import { printable, printableData } from "./printable.ts";

const decode = (...bytes: number[]) => decodeLeniently(Uint8Array.from(bytes), 0, bytes.length);

/** Bytes that are often valid or nearly valid UTF-8. */
const anyBytes = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 4 }),
      fc.string({ unit: "binary", maxLength: 3 }).map((text) => Buffer.from(text.toWellFormed())),
      fc
        .constantFrom(0x7f, 0x80, 0xbf, 0xc0, 0xc2, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff)
        .map((byte) => [byte]),
    ),
    { maxLength: 6 },
  )
  .map((parts) => Buffer.concat(parts.map((part) => Uint8Array.from(part))));

/** The inverse of decoding: the bytes of a text. */
function encode(text: string): Buffer {
  const bytes = [...text].map((character) => {
    const point = character.codePointAt(0)!;
    if (!isSurrogate(point)) return Buffer.from(character);
    return Buffer.from(isEscaped(point) ? [point & 0xff] : bytesOfSurrogate(point));
  });
  return Buffer.concat(bytes);
}

test("different bytes have different texts: every text can be encoded to its bytes again", () => {
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      const text = decodeLeniently(bytes, 0, bytes.length);
      assert.deepEqual(encode(text), bytes);
      for (const character of text) {
        const point = character.codePointAt(0)!;
        if (isSurrogate(point)) assert.ok(point >= 0xdc80 && point <= 0xdcff);
      }
    }),
    { numRuns: 2000 },
  );
});

test("valid UTF-8 decodes to the usual text, which has no escapes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat(3), (raw, before) => {
      const text = raw.toWellFormed();
      const bytes = Buffer.concat([Buffer.alloc(before, 0xff), Buffer.from(text), Buffer.alloc(2, 0x80)]);
      assert.equal(decodeLeniently(bytes, before, bytes.length - 2), text);
      assert.equal(printable(text), text);
      assert.equal(escapeLoneSurrogates(text), text);
    }),
  );
});

const decoded: [string, number[], string, string][] = [
  ["a header value", [0x6d, 0xff, 0xfe], "m\udcff\udcfe", "m\\xFF\\xFE"],
  ["an incomplete sequence", [0xe2, 0x82], "\udce2\udc82", "\\xE2\\x82"],
  ["an incomplete sequence before a letter", [0xe2, 0x82, 0x61], "\udce2\udc82a", "\\xE2\\x82a"],
  ["an overlong sequence", [0xc0, 0xaf], "\udcc0\udcaf", "\\xC0\\xAF"],
  ["a surrogate", [0xed, 0xa0, 0x80], "\udced\udca0\udc80", "\\xED\\xA0\\x80"],
  ["above U+10FFFF", [0xf4, 0x90, 0x80, 0x80], "\udcf4\udc90\udc80\udc80", "\\xF4\\x90\\x80\\x80"],
  ["a pair before a byte", [0xf0, 0x9f, 0x98, 0x80, 0x80], "\u{1f600}\udc80", "\u{1f600}\\x80"],
  ["U+FEFF stays", [0xef, 0xbb, 0xbf], "\ufeff", "\ufeff"],
];
for (const [name, bytes, text, shown] of decoded) {
  test(`decoded: ${name}`, () => {
    assert.equal(decode(...bytes), text);
    assert.equal(printable(text), shown);
  });
}

test("a lone surrogate in JSON becomes the bytes that an encoder without a check sends", () => {
  assert.equal(escapeLoneSurrogates("a\ud800b"), decode(0x61, 0xed, 0xa0, 0x80, 0x62));
  assert.equal(escapeLoneSurrogates("\udcff"), decode(0xed, 0xb3, 0xbf), "not the byte FF");
  assert.equal(escapeLoneSurrogates("\u{1f600}\udfff"), `\u{1f600}${decode(0xed, 0xbf, 0xbf)}`);
});

test("different JSON texts remain different from each other and from all valid text", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "\ud800", "\udc80", "\udfff", "\u{1f600}"),
    maxLength: 4,
  });
  fc.assert(
    fc.property(text, text, (one, other) => {
      assert.equal(escapeLoneSurrogates(one) === escapeLoneSurrogates(other), one === other);
    }),
    { numRuns: 1000 },
  );
});

test("printable text is always valid UTF-8", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("\\", "x", "F", "\ud83d", "\udcff", "\ude00") }),
      (text) => {
        assert.ok(printable(text).isWellFormed());
      },
    ),
  );
  assert.deepEqual(printableData({ a: ["\udcff", { b: "x\udc80" }], n: 1, u: undefined, t: true, z: null }), {
    a: ["\\xFF", { b: "x\\x80" }],
    n: 1,
    u: undefined,
    t: true,
    z: null,
  });
});
