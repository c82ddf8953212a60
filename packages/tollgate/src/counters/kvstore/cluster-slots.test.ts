import assert from "node:assert/strict";
import { test } from "node:test";
import { readSlots } from "./cluster-slots.ts";
import { ErrorReply, type Reply } from "./resp/reply.ts";

const asked = { host: "10.0.0.9", port: 7000 };

test("reads slot ranges, with the connected host for an empty host", () => {
  const reply: Reply = [
    [0, 5460, ["10.0.0.1", 7001, "id", []], ["10.0.0.2", 7002, "id", []]],
    [5461, 16383, ["", 7003, "id"]],
    [7, 7, [null, 7004]],
  ];
  assert.deepEqual(readSlots(reply, asked), [
    { from: 0, to: 5460, master: { host: "10.0.0.1", port: 7001 } },
    { from: 5461, to: 16383, master: { host: "10.0.0.9", port: 7003 } },
    { from: 7, to: 7, master: { host: "10.0.0.9", port: 7004 } },
  ]);
});

test("refuses other replies", () => {
  const bad: Reply[] = [
    null,
    1,
    "OK",
    new ErrorReply("ERR This instance has cluster support disabled"),
    [1],
    [[0, 1]],
    [[0, 99999, ["h", 1]]],
    [[0, 1, ["h", "1"]]],
  ];
  for (const reply of bad) assert.throws(() => readSlots(reply, asked), Error, JSON.stringify(reply));
});
