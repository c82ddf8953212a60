import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { makeCount } from "../../../test/counters/conformance.ts";
import { HoldBack, type StoreError } from "../store.ts";
import { Ticket } from "../transport/ticket.ts";
import { newGauges } from "./objcache-options.ts";
import { RoundTrip } from "./round-trip.ts";

describe("a batch", () => {
  test("settles every caller although one of them fails", async () => {
    const settled: string[] = [];
    let done = 0;
    const members = [0, 1, 2].map((index) => {
      const count = makeCount({ stem: `${index}:` });
      const ticket = new Ticket(
        [count],
        index === 1 ? HoldBack.ALWAYS : HoldBack.NEVER,
        Number.POSITIVE_INFINITY,
        0,
        undefined,
        {
          answered: () => settled.push(`${index}: ${count.after}`),
          failed: (error) =>
            settled.push(`${index}: ${(error as StoreError).code} ${(error as Error).message}`),
        },
      );
      return { key: `${index}:`, count, ticket };
    });
    const batch = new RoundTrip(
      {
        increments: new Map(),
        gauges: newGauges(),
        maxIncrements: 10,
        expiry: () => 60,
        looked: () => {
          throw new TypeError("a fault in the code");
        },
        lost: () => {},
      },
      members,
      [],
      () => {
        done += 1;
      },
    );
    batch.accept({ key: "0:", data: "4" });
    batch.accept({ key: "1:", data: "5" });
    batch.accept({ key: "2:", data: "6" });
    assert.ok(batch.accept("END"));
    batch.finish();
    await nextTurn();
    settled.sort();
    assert.deepEqual(settled, [
      "0: 5",
      "1: STORE_UNAVAILABLE cannot use an answer of the store: a fault in the code",
      "2: 7",
    ]);
    assert.equal(done, 1, "the connection is free again");
  });
});
