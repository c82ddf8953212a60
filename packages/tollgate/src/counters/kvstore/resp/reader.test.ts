import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { ReplyReader } from "./reader.ts";
import { ErrorReply, type Reply, toInteger } from "./reply.ts";

function read(...chunks: (string | Buffer)[]): Reply[] {
  const replies: Reply[] = [];
  const reader = new ReplyReader({ reply: (reply) => replies.push(reply) });
  for (const chunk of chunks) reader.feed(Buffer.from(chunk));
  return replies;
}

/** Every kind of reply, with its value. */
const kinds: [string, Reply][] = [
  [":0\r\n", 0],
  [":42\r\n", 42],
  [":999999999999999\r\n", 999_999_999_999_999],
  [":9007199254740991\r\n", 9_007_199_254_740_991],
  [":9007199254740993\r\n", 9_007_199_254_740_993n],
  [":9223372036854775807\r\n", 9_223_372_036_854_775_807n],
  [":-7\r\n", -7],
  ["+OK\r\n", "OK"],
  ["-OOM command not allowed\r\n", new ErrorReply("OOM command not allowed")],
  ["$-1\r\n", null],
  ["$0\r\n\r\n", ""],
  ["$7\r\na\r\nb\r\nc\r\n", "a\r\nb\r\nc"],
  ["$2\r\né\r\n", "é"],
  ["*-1\r\n", null],
  ["*0\r\n", []],
  [
    "*3\r\n:9007199254740991\r\n:-1784000000000000\r\n:0\r\n",
    [9_007_199_254_740_991, -1_784_000_000_000_000, 0],
  ],
  [
    "*2\r\n:9007199254740993\r\n:-9223372036854775808\r\n",
    [9_007_199_254_740_993n, -9_223_372_036_854_775_808n],
  ],
  ["*3\r\n:1\r\n*2\r\n$1\r\nx\r\n$-1\r\n-ERR in it\r\n", [1, ["x", null], new ErrorReply("ERR in it")]],
];

describe("reading replies", () => {
  for (const [text, value] of kinds)
    test(JSON.stringify(text.slice(0, 40)), () => assert.deepEqual(read(text), [value]));

  test("reads replies in chunks of any size", () => {
    const replies = fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(replies, fc.array(fc.nat(200), { maxLength: 10 }), (list, cuts) => {
        const bytes = Buffer.from(list.map(([text]) => text).join(""));
        const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
        const chunks = places.slice(1).map((end, i) => bytes.subarray(places[i], end));
        assert.deepEqual(
          read(...chunks),
          list.map(([, value]) => value),
        );
      }),
      { numRuns: 300 },
    );
  });

  test("keeps the bytes of a binary bulk string", () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const replies: Reply[] = [];
    const reader = new ReplyReader({ reply: (reply) => replies.push(reply) });
    reader.encoding = "latin1";
    reader.feed(Buffer.concat([Buffer.from("$256\r\n"), bytes, Buffer.from("\r\n:1\r\n")]));
    assert.deepEqual(replies, [bytes.toString("latin1"), 1]);
  });

  test("does not keep a chunk after feed", () => {
    const replies: Reply[] = [];
    const reader = new ReplyReader({ reply: (reply) => replies.push(reply) });
    const chunk = Buffer.from(":1\r\n:23");
    reader.feed(chunk);
    chunk.fill("x");
    reader.feed(Buffer.from("4\r\n"));
    assert.deepEqual(replies, [1, 234]);
  });

  test("refuses bytes that are not replies", () => {
    for (const text of [
      "HTTP/1.1 400 Bad Request\r\n",
      ":12a\r\n",
      ":\r\n",
      "$x\r\n",
      "*1\r\n?\r\n",
      "$99999999999\r\n",
    ])
      assert.throws(() => read(text), Error, text);
    assert.throws(() => read("*1\r\n".repeat(20)), /nested/);
    assert.throws(() => read("+".padEnd(17 * 1024 * 1024, "x")), /larger/);
  });

  for (const [message, code] of [
    ["MOVED 866 10.0.0.1:6379", "MOVED"],
    ["NOAUTH", "NOAUTH"],
    ["READONLY You can't write against a read only replica. script: 6b81, on @user_script:1.", "READONLY"],
    // Redis 6
    [
      "ERR Error running script (call to f_6b81): @user_script:4: @user_script: 4: -READONLY You can't write against a read only replica.",
      "READONLY",
    ],
    [
      "ERR Error running script (call to f_6b81): @user_script:4: @user_script: 4: Unknown Redis command called from Lua script",
      "ERR",
    ],
  ] as const)
    test(`the code of an error is ${code}: ${message}`, () => {
      assert.equal(new ErrorReply(message).code, code);
    });

  test("parses integers", () => {
    assert.equal(toInteger("12"), 12);
    assert.equal(toInteger("-9007199254740993"), -9_007_199_254_740_993n);
    for (const text of ["", "1.5", "1e3", "0x10", " 1", "123456789012345678901"])
      assert.throws(() => toInteger(text));
  });
});
