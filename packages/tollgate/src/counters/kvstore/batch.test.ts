import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { makeCount, placeOf } from "../../../test/counters/conformance.ts";
import { HoldBack, Outcome, StoreError } from "../store.ts";
import { Ticket } from "../transport/ticket.ts";
import { makeBatch } from "./batch.fixture.ts";
import { Part, SendMode } from "./part.ts";
import { ErrorReply } from "./resp/reply.ts";

describe("a batch", () => {
  test("settles every caller although one of them fails", async () => {
    for (const end of ["finish", "broken"] as const) {
      const settled: string[] = [];
      let done = 0;
      const onDone = () => {
        done += 1;
      };
      const { batch } = makeBatch(onDone, () => {
        throw new TypeError("a fault in the code");
      });
      const parts: Part[] = [];
      const counts = [0, 1, 2, 3].map((index) => makeCount({ stem: `${index}:`, hits: 0 }));
      for (const [index, count] of counts.entries()) {
        const ticket = new Ticket([count], HoldBack.NEVER, Number.POSITIVE_INFINITY, 0, undefined, {
          answered: () => settled.push(`${index}: ${count.after}`),
          failed: (error) =>
            settled.push(`${index}: ${(error as StoreError).code} ${(error as Error).message}`),
        });
        parts.push(new Part(ticket, [count], SendMode.PLAIN));
      }
      batch.prepare(parts, []);
      batch.accept("4");
      batch.accept(new ErrorReply("MOVED"));
      batch.accept("6");
      if (end === "finish") {
        batch.accept("7");
        batch.finish();
      } else batch.broken(new StoreError("STORE_TIMEOUT", "gone"));
      await nextTurn();
      settled.sort();
      assert.deepEqual(settled, [
        "0: 4",
        "1: STORE_UNAVAILABLE cannot use an answer of the store: a fault in the code",
        "2: 6",
        end === "finish" ? "3: 7" : "3: STORE_TIMEOUT gone",
      ]);
      assert.equal(done, 1, "the connection is free again");
    }
  });

  test("settles every caller although the waiter of another one throws", () => {
    const settled: string[] = [];
    let isDone = false;
    const { batch } = makeBatch(() => {
      isDone = true;
    });
    const parts: Part[] = [];
    const push = (name: string, holdBack: HoldBack, answered: () => void) => {
      const count = makeCount({ stem: `${name}:`, hits: 0 });
      const waiter = { answered, failed: () => settled.push(`${name} failed`) };
      const ticket = new Ticket([count], holdBack, Number.POSITIVE_INFINITY, 0, undefined, waiter);
      parts.push(new Part(ticket, [count], SendMode.PLAIN));
    };
    const fault = (name: string) => () => {
      settled.push(name);
      throw new TypeError("a fault in the code");
    };
    push("together", HoldBack.WHEN_REFUSED, fault("together"));
    push("alone", HoldBack.NEVER, fault("alone"));
    push("last", HoldBack.NEVER, () => settled.push("last"));
    batch.prepare(parts, []);
    batch.accept([Outcome.COUNTED, 1]);
    batch.accept("1");
    batch.accept("1");
    batch.finish();
    assert.deepEqual(settled, ["together", "alone", "last"]);
    assert.ok(isDone, "the connection is free again");
  });

  test("knows the key that needs an expiry after its caller has reused the memory of a failed count", () => {
    const { batch, fresh } = makeBatch();
    const bytes = Buffer.from("domain|key=one|day:");
    const place = placeOf(bytes, 0, bytes.length);
    const count = makeCount({ stem: "", windowStart: 86_400, windowSize: 86_400 });
    Object.assign(count, { place });
    const ticket = new Ticket([count], HoldBack.NEVER, Number.POSITIVE_INFINITY, 0, undefined, {
      answered: assert.fail,
      failed: () => {},
    });
    batch.prepare([new Part(ticket, [count], SendMode.PLAIN)], []);
    // Another part of the request has failed, and a failure policy has answered it.
    ticket.fail(new StoreError("STORE_UNAVAILABLE", "gone"));
    place.bytes.set(Buffer.from("domain|key=two|day:"), place.start);
    batch.broken(new StoreError("STORE_UNAVAILABLE", "gone"));
    assert.deepEqual(fresh, [{ stem: "domain|key=one|day:", windowStart: 86_400, windowSize: 86_400 }]);
  });
});
