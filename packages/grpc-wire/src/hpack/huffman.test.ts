import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { huffmanDecode } from "./huffman-decoder.ts";
import { huffmanEncode, huffmanLength } from "./huffman-encoder.ts";

function encode(text: string): Buffer {
  const out = Buffer.alloc(huffmanLength(text));
  assert.equal(huffmanEncode(text, out, 0), out.length);
  return out;
}

function decode(hex: string): string | undefined {
  const bytes = Buffer.from(hex, "hex");
  const out = Buffer.alloc(bytes.length * 2);
  const length = huffmanDecode(bytes, 0, bytes.length, out, 0);
  return length < 0 ? undefined : out.toString("latin1", 0, length);
}

// RFC 7541, appendices C.4 and C.6
const cases: [text: string, hex: string][] = [
  ["www.example.com", "f1e3c2e5f23a6ba0ab90f4ff"],
  ["no-cache", "a8eb10649cbf"],
  ["custom-key", "25a849e95ba97d7f"],
  ["custom-value", "25a849e95bb8e8b4bf"],
  ["302", "6402"],
  ["private", "aec3771a4b"],
  ["Mon, 21 Oct 2013 20:13:21 GMT", "d07abe941054d444a8200595040b8166e082a62d1bff"],
  [
    "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
    "94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
  ],
];
for (const [text, hex] of cases) {
  test(`encodes ${JSON.stringify(text.slice(0, 20))} as in RFC 7541`, () => {
    assert.equal(encode(text).toString("hex"), hex);
    assert.equal(decode(hex), text);
  });
}

const faults: [what: string, hex: string][] = [
  ["padding longer than 7 bits", "f1e3c2e5f23a6ba0ab90f4ffff"],
  ["padding of zeros", "1800"],
  ["EOS inside", "ffffffffff"],
  ["a code cut off", "fffffc"],
];
for (const [what, hex] of faults) test(`rejects ${what}`, () => assert.equal(decode(hex), undefined));

test("decoding is the inverse of encoding for all octets", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (octets) => {
      const text = Buffer.from(octets).toString("latin1");
      assert.equal(decode(encode(text).toString("hex")), text);
    }),
    { numRuns: 500 },
  );
});
