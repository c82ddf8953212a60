import assert from "node:assert/strict";
import { test } from "node:test";
import { HpackDecoder } from "../hpack/decoder.ts";
import { encodeHeaders } from "../hpack/encoder.ts";
import { areValidTrailers, readHead } from "./request-head.ts";

type List = [name: string, value: string][];

function fieldsOf(list: List) {
  const block = Buffer.from(encodeHeaders(list));
  return new HpackDecoder().decode(block, 0, block.length, 1e6)!;
}

const head = (list: List) => readHead(fieldsOf(list), false);

const pseudo: List = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/a.B/C"],
];
const good: List = [...pseudo, ["content-type", "application/grpc"], ["te", "trailers"]];
const with_ = (...more: List): List => [...good, ...more];

const malformed: [what: string, list: List][] = [
  ["no :method", good.slice(1)],
  ["no :scheme", [good[0]!, ...good.slice(2)]],
  ["no :path", [...good.slice(0, 2), ...good.slice(3)]],
  [
    "an empty :path",
    [
      [":method", "POST"],
      [":scheme", "http"],
      [":path", ""],
    ],
  ],
  ["a pseudo-header twice", [[":method", "POST"], ...good]],
  ["a response's pseudo-header", [[":status", "200"], ...good]],
  ["an unknown pseudo-header", [[":foo", "bar"], ...good]],
  ["a pseudo-header after a regular one", with_([":authority", "a"])],
  ["an upper-case name", with_(["X-Test", "a"])],
  ["a name with a blank", with_(["x test", "a"])],
  ["an empty name", with_(["", "a"])],
  ["a value with a line break", with_(["x", "a\nb"])],
  ["a value with NUL", with_(["x", "a\0b"])],
  ["a value with a leading blank", with_(["x", " a"])],
  ["connection", with_(["connection", "close"])],
  ["transfer-encoding", with_(["transfer-encoding", "chunked"])],
  ["te other than trailers", with_(["te", "gzip"])],
  ["a content-length that is not a number", with_(["content-length", "x"])],
  ["two content-lengths", with_(["content-length", "1"], ["content-length", "2"])],
];
for (const [what, list] of malformed) test(`malformed: ${what}`, () => assert.notEqual(head(list).fault, ""));

test("reads the method, the path and the length of a well-formed request", () => {
  const { fault, method, path, contentLength } = head(with_(["content-length", "5"]));
  assert.deepEqual([fault, method, path, contentLength], ["", "POST", "/a.B/C", 5]);
  assert.equal(head(good).contentLength, -1);
});

test("trailers allow regular fields only", () => {
  assert.equal(areValidTrailers(fieldsOf([["x", "y"]])), true);
  assert.equal(areValidTrailers(fieldsOf([[":path", "/"]])), false);
  assert.equal(areValidTrailers(fieldsOf([["X", "y"]])), false);
});
