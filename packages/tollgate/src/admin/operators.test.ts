import assert from "node:assert/strict";
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { test } from "node:test";
import { createLogger } from "../observe/log.ts";
import { Operators } from "./operators.ts";

const alice = "a".repeat(40);
const bob = "b".repeat(64);

test("each token is compared with those of all operators, by timingSafeEqual and as digests of one length", (t) => {
  const compare = t.mock.method(crypto, "timingSafeEqual");
  syncBuiltinESMExports();
  t.after(() => {
    compare.mock.restore();
    syncBuiltinESMExports();
  });
  const tokens = Object.entries({ alice, bob }).map(
    ([name, token]) => [name, { reveal: () => token }] as const,
  );
  const operators = new Operators({
    tokens,
    tokenFile: undefined,
    certificates: false,
    faultOf: () => undefined,
    log: createLogger(),
  });
  const digests = [alice, bob].map((token) => crypto.createHash("sha256").update(token).digest());
  for (const [token, isAccepted] of [
    [alice, true],
    [bob, true],
    [alice.slice(1), false],
    [`${alice}a`, false],
    [`${alice.slice(1)}b`, false],
    [`b${alice.slice(1)}`, false],
    ["a", false],
    ["c".repeat(5000), false],
  ] as const) {
    compare.mock.resetCalls();
    assert.equal(operators.acceptToken(`Bearer ${token}`), isAccepted);
    const digest = crypto.createHash("sha256").update(token).digest();
    assert.deepEqual(
      compare.mock.calls.map(({ arguments: compared }) => compared),
      digests.map((own) => [own, digest]),
    );
  }
});
