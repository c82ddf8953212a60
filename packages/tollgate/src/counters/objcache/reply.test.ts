import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { TextReader, type TextReply } from "./reply.ts";

function read(...chunks: Buffer[]): TextReply[] {
  const replies: TextReply[] = [];
  const reader = new TextReader((reply) => replies.push(reply));
  for (const chunk of chunks) reader.feed(chunk);
  return replies;
}

const kinds: [string, TextReply][] = [
  ["17\r\n", "17"],
  ["NOT_FOUND\r\n", "NOT_FOUND"],
  ["STORED\r\n", "STORED"],
  ["SERVER_ERROR out of memory storing object\r\n", "SERVER_ERROR out of memory storing object"],
  ["VALUE a|k=v|hour:1 0 2\r\n42\r\n", { key: "a|k=v|hour:1", data: "42" }],
  ["VALUE é 0 0\r\n\r\n", { key: "é", data: "" }],
  ["VALUE x 0 6\r\n1\r\n2  \r\n", { key: "x", data: "1\r\n2  " }],
  ["END\r\n", "END"],
];

describe("memcached's replies", () => {
  test("are read in chunks of any size", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 12 }),
        fc.array(fc.nat(300), { maxLength: 8 }),
        (list, cuts) => {
          const bytes = Buffer.from(list.map(([text]) => text).join(""));
          const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
          assert.deepEqual(
            read(...places.slice(1).map((end, i) => bytes.subarray(places[i], end))),
            list.map(([, value]) => value),
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  test("are refused if memcached never sends them", () => {
    assert.throws(() => read(Buffer.from("VALUE\r\n")), /VALUE line/);
    assert.throws(() => read(Buffer.from("VALUE k 0 99999999\r\n")), /VALUE line/);
    assert.throws(() => read(Buffer.alloc(5000, "x")), /too long/);
  });
});
