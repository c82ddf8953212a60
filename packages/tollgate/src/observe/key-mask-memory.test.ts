import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { KeyMask } from "./key-mask.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const ENTRIES = 200;
const LENGTH = 200_000;
/** Maximum bytes of an entry: two bounded texts. */
const ENTRY_BYTES = 8 * 1024;

/** A long text with its own buffer, like a decoded one. */
const long = (index: number) => Buffer.from(`${index},`.padEnd(LENGTH, "x")).toString("latin1");

for (const keys of [[], ["*"]])
  test(`the entries that operators see keep no long text: masked keys [${keys.join()}]`, () => {
    const mask = new KeyMask({ keys, style: "hash", salt: "salt" });
    const used = () => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = used();
    const kept = Array.from({ length: ENTRIES }, (_, index) =>
      mask.entries([{ key: long(index), value: long(index) }]),
    );
    const grown = used() - before;
    assert.ok(grown < ENTRIES * ENTRY_BYTES, `${grown} bytes for ${kept.length} entries`);
  });
