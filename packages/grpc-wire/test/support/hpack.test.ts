import assert from "node:assert/strict";
import { test } from "node:test";
import { HpackPeer } from "./hpack.ts";

test("the peer of the tests encodes texts that are names of object members", () => {
  for (const text of ["constructor", "toString", "__proto__", "valueOf"]) {
    const fields: [string, string][] = [
      ["user-agent", text],
      [text, "value"],
    ];
    assert.deepEqual(new HpackPeer().decode(new HpackPeer().encode(fields)), fields);
  }
});
