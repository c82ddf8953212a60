import assert from "node:assert/strict";
import { test } from "node:test";
import { encryption, signing } from "./sealing.ts";

const SECRET = "a secret of the tests, 32 characters or more";

// A worker drops the promises of a request whose client has left. They never settle.
for (const seals of [signing, encryption])
  test(`${seals.name}: a first use that never ends does not hold up the next one`, async (context) => {
    const sealing = seals(() => SECRET);
    const never = () => new Promise<CryptoKey>(() => undefined);
    const dropped = context.mock.method(crypto.subtle, "importKey", never);
    void sealing.seal("first", "test");
    assert.equal(dropped.mock.callCount(), 1);
    dropped.mock.restore();
    assert.equal(await sealing.open(await sealing.seal("second", "test"), "test"), "second");
  });
