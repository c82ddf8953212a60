import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { makeCount } from "../../../test/counters/conformance.ts";
import { HoldBack, StoreError } from "../store.ts";
import { Ticket } from "../transport/ticket.ts";
import { makeBatch } from "./batch.fixture.ts";
import { Part, SendMode } from "./part.ts";

const windowStart = 3600;
const gone = new StoreError("STORE_TIMEOUT", "gone");

/** A batch, what it hands over, and the commands that it has written. */
function setUp() {
  const { batch, fresh } = makeBatch();
  /** Prepares hits of keys, and keys that need an expiry. @returns the commands without their last word */
  const prepare = (hits: Record<string, number>, freshStems: readonly string[] = []) => {
    batch.writer.reset();
    const parts = Object.entries(hits).map(([stem, hits]) => partOf(stem, hits));
    batch.prepare(
      parts,
      freshStems.map((stem) => ({ stem, windowStart, windowSize: 3600 })),
    );
    const text = batch.writer.bytes().toString();
    return Array.from(text.matchAll(/(INCRBY|EXPIRE|GET)\r\n\$\d+\r\n(\w):3600/g), (match) =>
      match.slice(1, 3).join(" "),
    );
  };
  return { batch, fresh: () => fresh.splice(0).map(({ stem }) => stem), prepare };
}

function partOf(stem: string, hits: number): Part {
  const count = makeCount({ stem, hits, windowStart });
  const waiter = { answered: () => {}, failed: () => {} };
  const ticket = new Ticket([count], HoldBack.NEVER, Number.POSITIVE_INFINITY, 0, undefined, waiter);
  return new Part(ticket, [count], SendMode.PLAIN);
}

describe("the expiries of a batch", () => {
  test("follow their counts: a server that reads the first half of a batch leaves no further key behind", () => {
    const { prepare } = setUp();
    assert.deepEqual(prepare({ "a:": 1, "b:": 0, "c:": 2 }), [
      "INCRBY a",
      "EXPIRE a",
      "GET b",
      "INCRBY c",
      "EXPIRE c",
    ]);
  });

  test("are sent again after two lost connections, also of a key that was counted meanwhile", () => {
    const { batch, fresh, prepare } = setUp();
    prepare({ "a:": 1 });
    batch.broken(gone);
    assert.deepEqual(fresh(), ["a:"]);
    prepare({ "a:": 1 }, ["a:"]);
    batch.broken(gone);
    assert.deepEqual(fresh(), ["a:"]);
    assert.deepEqual(prepare({ "a:": 1 }, ["a:"]), ["INCRBY a", "EXPIRE a", "EXPIRE a"]);
  });

  test("are sent with the next count of a key that was perhaps fresh when its reply was lost", () => {
    const { batch, fresh, prepare } = setUp();
    prepare({ "a:": 1 });
    batch.accept(1);
    batch.accept(1);
    batch.finish();
    assert.deepEqual(prepare({ "a:": 1 }), ["INCRBY a"], "the expiry is known");
    // The server had lost the key.
    batch.broken(gone);
    assert.deepEqual(prepare({ "a:": 1 }, fresh()), ["INCRBY a", "EXPIRE a"]);
  });

  test("are sent with the next count of a fresh key that nobody sent", () => {
    const { batch, fresh, prepare } = setUp();
    prepare({ "a:": 1 });
    for (const reply of [1, 1]) batch.accept(reply);
    batch.finish();
    prepare({ "a:": 1 });
    // The server had lost the key.
    batch.accept(1);
    batch.finish();
    assert.deepEqual(fresh(), ["a:"]);
    assert.deepEqual(prepare({ "a:": 1 }), ["INCRBY a", "EXPIRE a"]);
  });
});

test("a batch with nothing to send forgets its callers", () => {
  const { batch } = setUp();
  const part = partOf("a:", 1);
  part.ticket.fail(gone);
  assert.equal(batch.prepare([part], []), false);
  assert.deepEqual(batch.parts, []);
});
