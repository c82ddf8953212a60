import assert from "node:assert/strict";
import { test } from "node:test";
import { HpackDecoder } from "../hpack/decoder.ts";
import { encodeHeaders } from "../hpack/encoder.ts";
import { readHead } from "../http2/request-head.ts";
import { callHeadOf, Encoding } from "./call-head.ts";

type List = [name: string, value: string][];

function fieldsOf(list: List) {
  const block = Buffer.from(encodeHeaders(list));
  return new HpackDecoder().decode(block, 0, block.length, 1e6)!;
}

const head = (list: List) =>
  callHeadOf(readHead(fieldsOf(list), false), { subtypes: ["proto"], routes: new Map() });

const pseudo: List = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/a.B/C"],
];
const good: List = [...pseudo, ["content-type", "application/grpc"], ["te", "trailers"]];
const with_ = (...more: List): List => [...good, ...more];

const types: [contentType: string, isCall: boolean, subtype: number][] = [
  ["application/grpc", true, 0],
  ["application/grpc+proto", true, 1],
  ["Application/gRPC", true, 0],
  ["application/grpc;charset=utf-8", true, 0],
  ["application/grpc+json", false, -1],
  ["application/grpc-web", false, -1],
  ["application/json", false, -1],
];
for (const [contentType, isCall, subtype] of types) {
  test(`content-type ${contentType}`, () => {
    const read = head([...pseudo, ["content-type", contentType]]);
    assert.deepEqual([read.isCall, read.subtype], [isCall, subtype]);
  });
}

test("only POST is a gRPC call", () => {
  const list = with_();
  list[0] = [":method", "GET"];
  assert.equal(head(list).isCall, false);
});

test("reads the gRPC fields of a request", () => {
  const read = head(
    with_(["grpc-timeout", "5S"], ["grpc-encoding", "gzip"], ["grpc-accept-encoding", "identity, gzip"]),
  );
  assert.equal(read.isCall, true);
  assert.equal(read.timeoutMs, 5000);
  assert.equal(read.encoding, Encoding.GZIP);
  assert.equal(read.acceptsGzip, true);
});

test("detects malformed and unknown values", () => {
  const read = head(
    with_(["grpc-timeout", "soon"], ["grpc-encoding", "br"], ["grpc-accept-encoding", "xgzip"]),
  );
  assert.equal(read.timeoutMs, -2);
  assert.equal(read.encoding, Encoding.UNSUPPORTED);
  assert.equal(read.acceptsGzip, false);
});
