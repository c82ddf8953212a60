import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { HpackPeer } from "../../test/support/hpack.ts";
import { HpackDecoder } from "./decoder.ts";
import { encodeHeaders } from "./encoder.ts";
import { isValidValue } from "./field.ts";
import { huffmanEncode, huffmanLength } from "./huffman-encoder.ts";

type List = [name: string, value: string][];

function decode(decoder: HpackDecoder, block: Uint8Array, limit = 1e6): List | undefined {
  const bytes = Buffer.from(block);
  return decoder.decode(bytes, 0, bytes.length, limit)?.map(({ name, value }) => [name, value]);
}

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");

// RFC 7541, appendix C.3 (plain) and C.4 (Huffman): three requests on one connection
const first: List = [
  [":method", "GET"],
  [":scheme", "http"],
  [":path", "/"],
  [":authority", "www.example.com"],
];
const second: List = [...first, ["cache-control", "no-cache"]];
const third: List = [
  [":method", "GET"],
  [":scheme", "https"],
  [":path", "/index.html"],
  [":authority", "www.example.com"],
  ["custom-key", "custom-value"],
];
const examples: [name: string, blocks: string[]][] = [
  [
    "C.3",
    [
      "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
      "8286 84be 5808 6e6f 2d63 6163 6865",
      "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ],
  ],
  [
    "C.4",
    [
      "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
      "8286 84be 5886 a8eb 1064 9cbf",
      "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
    ],
  ],
];
for (const [name, blocks] of examples) {
  test(`decodes the requests of RFC 7541 ${name}`, () => {
    const decoder = new HpackDecoder();
    assert.deepEqual(
      blocks.map((block) => decode(decoder, hex(block))),
      [first, second, third],
    );
  });
}

const faults: [what: string, block: string][] = [
  ["index 0", "80"],
  ["an index beyond both tables", "be"],
  ["a name index beyond both tables", "7f80 01 0161"],
  ["a string cut off", "4005 6162"],
  ["an integer cut off", "ff80 80"],
  ["an integer above 2^28", "ff80 8080 8080 01"],
  ["a size update above our table size", "3fe2 1f"],
  ["a size update after a field", "8220"],
  ["a value that is missing", "4001 61"],
];
for (const [what, block] of faults)
  test(`rejects ${what}`, () => assert.equal(decode(new HpackDecoder(), hex(block)), undefined));

test("a size update evicts entries, and a size of 0 empties the table", () => {
  const decoder = new HpackDecoder();
  decode(decoder, hex("4001 6101 62 4001 6301 64"));
  assert.deepEqual(decode(decoder, hex("bebf")), [
    ["c", "d"],
    ["a", "b"],
  ]);
  // Room for one entry of 34: evicts the older one.
  assert.deepEqual(decode(decoder, hex("3f05 be")), [["c", "d"]]);
  assert.equal(decode(decoder, hex("bf")), undefined);
  assert.deepEqual(decode(decoder, hex("20")), []);
  assert.equal(decode(decoder, hex("be")), undefined);
});

test("counts and drops fields beyond the limit of the list", () => {
  const decoder = new HpackDecoder();
  const value = "v".repeat(3000);
  decode(decoder, encodeWithIndexing("bomb", value));
  const block = Buffer.alloc(10_000, 0xbe);
  const kept = decode(decoder, block, 16_384)!;
  assert.equal(decoder.listSize, 10_000 * (4 + 3000 + 32));
  assert.ok(kept.length <= 16_384 / 3036);
});

// In the Huffman code, "0" takes 5 bits and "~" takes 13.
for (const [how, isCoded, octet] of [
  ["plain", false, "v"],
  ["coded, and longer when decoded", true, "0"],
  ["coded, and shorter when decoded", true, "~"],
] as const)
  test(`values of a table stay as they are, however long the next ones are: ${how}`, () => {
    const decoder = new HpackDecoder();
    const values = Array.from({ length: 1000 }, (_, index) => index + octet.repeat((index * 367) % 900));
    const fields = values.map((value) => {
      const block = encodeWithIndexing("x-value", value, isCoded);
      const [field] = decoder.decode(block, 0, block.length, 1e6)!;
      // The next read may overwrite its buffer.
      block.fill(0);
      return field;
    });
    assert.deepEqual(
      fields.map((field) => field?.value),
      values,
    );
  });

function encodeWithIndexing(name: string, value: string, isCoded = false): Buffer {
  const bytes = isCoded ? Buffer.alloc(huffmanLength(value)) : Buffer.from(value);
  if (isCoded) huffmanEncode(value, bytes, 0);
  const { length } = bytes;
  const flag = isCoded ? 0x80 : 0;
  return Buffer.concat([
    Buffer.from([0x40, name.length]),
    Buffer.from(name),
    Buffer.from(
      length < 127 ? [flag | length] : [flag | 0x7f, ((length - 127) & 0x7f) | 0x80, (length - 127) >> 7],
    ),
    bytes,
  ]);
}

const octets = (least: number, most: number, highest: number) =>
  fc
    .array(fc.integer({ min: 0, max: highest }), { minLength: least, maxLength: most })
    .map((codes) => String.fromCharCode(...codes));
const commonNames = fc.constantFrom(
  ":path",
  "content-type",
  "te",
  "grpc-timeout",
  "user-agent",
  "x-b3-traceid",
);
const commonValues = fc.constantFrom("", "trailers", "/a.B/C");
const lists = (highest: number) =>
  fc.array(
    fc.tuple(fc.oneof(commonNames, octets(1, 20, highest)), fc.oneof(commonValues, octets(0, 300, highest))),
    { maxLength: 20 },
  ) as fc.Arbitrary<List>;

test("decoding is the inverse of encoding for all header lists", () => {
  fc.assert(
    fc.property(lists(255), (list) => {
      assert.deepEqual(decode(new HpackDecoder(), encodeHeaders(list)), list);
    }),
    { numRuns: 300 },
  );
});

test("decodes the blocks of an independent implementation, which decodes ours", () => {
  fc.assert(
    fc.property(fc.array(lists(255), { minLength: 1, maxLength: 12 }), (conversation) => {
      const ours = new HpackDecoder();
      const theirs = new HpackPeer();
      const theirDecoder = new HpackPeer();
      for (const list of conversation) {
        assert.deepEqual(decode(ours, theirs.encode(list)), list);
        assert.deepEqual(theirDecoder.decode(Buffer.from(encodeHeaders(list))), list);
      }
    }),
    { numRuns: 150 },
  );
});

test("decodes or rejects arbitrary bytes, and keeps the table within its size", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 10 }), (blocks) => {
      const decoder = new HpackDecoder();
      for (const block of blocks) if (decode(decoder, block) === undefined) break;
    }),
    { numRuns: 1000 },
  );
});

/** A literal field that no table keeps, name plain and value Huffman coded. */
function huffmanField(name: string, value: string): Buffer {
  const coded = Buffer.alloc(huffmanLength(value));
  huffmanEncode(value, coded, 0);
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([0x80 | coded.length]),
    coded,
  ]);
}

test("a value is valid or invalid regardless of its encoding, plain or Huffman", () => {
  const values = fc.string({
    unit: fc.constantFrom("a", " ", "\t", "\r", "\n", "\0", "é", "~"),
    maxLength: 12,
  });
  fc.assert(
    fc.property(values, values, (before, value) => {
      const decoder = new HpackDecoder();
      // The result must not depend on strings that the decoder read before.
      const block = Buffer.concat([huffmanField("x-before", before), huffmanField("x-value", value)]);
      const bytes = Buffer.from(block);
      const field = decoder.decode(bytes, 0, bytes.length, 1e6)![1]!;
      const octets = Buffer.from(value, "latin1");
      assert.equal(field.valid, isValidValue(octets, 0, octets.length), JSON.stringify(value));
    }),
  );
});

/** A field and how a block carries it. `again`: by the index of the newest entry of the dynamic table. */
interface Carried {
  readonly how: "static" | "octets" | "huffman" | "indexed" | "again";
  readonly name: string;
  readonly value: string;
}
const carried: fc.Arbitrary<Carried> = fc.record({
  how: fc.constantFrom("static", "octets", "huffman", "indexed", "again"),
  name: fc.constantFrom("te", "x-id", "content-type"),
  value: fc.constantFrom("", "trailers", "application/grpc", "x".repeat(300)),
});

test("blocks with repeated literals decode correctly after any change of the dynamic table", () => {
  const conversation = fc.tuple(
    fc.array(fc.array(carried, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 2 }),
    // Long enough for the decoder to replace the literals that it remembers.
    fc.array(fc.tuple(fc.nat(2), fc.array(carried, { maxLength: 2 })), { minLength: 25, maxLength: 60 }),
  );
  fc.assert(
    fc.property(conversation, ([beginnings, rests]) => {
      const decoder = new HpackDecoder();
      let newest: [string, string] | undefined;
      for (const [which, rest] of rests) {
        const said: List = [];
        const block = [...beginnings[which % beginnings.length]!, ...rest].map(({ how, name, value }) => {
          if (how === "static" || (how === "again" && newest === undefined)) {
            said.push([":method", "POST"]);
            return Buffer.of(0x83);
          }
          if (how === "again") {
            said.push(newest!);
            return Buffer.of(0xbe);
          }
          said.push([name, value]);
          if (how === "indexed") newest = [name, value];
          const coded = Buffer.alloc(400);
          const length = how === "huffman" ? huffmanEncode(value, coded, 0) : coded.write(value, "latin1");
          const flag = how === "huffman" ? 0x80 : 0;
          const size =
            length < 127 ? [flag | length] : [flag | 127, ((length - 127) & 127) | 128, (length - 127) >> 7];
          return Buffer.concat([
            Buffer.of(how === "indexed" ? 0x40 : 0, name.length),
            Buffer.from(name),
            Buffer.from(size),
            coded.subarray(0, length),
          ]);
        });
        assert.deepEqual(decode(decoder, Buffer.concat(block)), said);
      }
    }),
  );
});

test("applies the limit of the list to a block of repeated literals", () => {
  const decoder = new HpackDecoder();
  const block = encodeHeaders([...first, ["x-long", "x".repeat(100)]]);
  for (let time = 0; time < 3; time++) {
    assert.equal(decode(decoder, block)?.length, 5);
    assert.equal(decode(decoder, block, 100)?.length, 2);
    assert.ok(decoder.listSize > 300);
  }
});

test("a repeated literal whose name is an index into the dynamic table gets its present name", () => {
  const decoder = new HpackDecoder();
  const named = "0f2f 0131"; // The name of the newest entry, and the value 1.
  assert.deepEqual(decode(decoder, hex(`4001 6101 78 ${named}`)), [
    ["a", "x"],
    ["a", "1"],
  ]);
  assert.deepEqual(decode(decoder, hex(`4001 6201 79 ${named}`)), [
    ["b", "y"],
    ["b", "1"],
  ]);
});

test("a repeated literal is found by its position, and replaced when it does not come again", () => {
  const decoder = new HpackDecoder();
  const block = (...values: string[]) => encodeHeaders(values.map((value) => ["x-id", value]));
  const fields = (bytes: Uint8Array) => decoder.decode(Buffer.from(bytes), 0, bytes.length, 1e6)!;
  const [first] = fields(block("a", "b"));
  assert.equal(fields(block("a", "c"))[0], first, "the same object");
  assert.notEqual(fields(block("c", "a"))[1], first, "another position");
  for (let time = 0; time < 20; time++) fields(block("d"));
  const [newer] = fields(block("d"));
  assert.equal(fields(block("d"))[0], newer);
  assert.notEqual(fields(block("a"))[0], first);
});
