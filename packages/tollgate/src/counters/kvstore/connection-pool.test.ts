import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreError } from "../store.ts";
import type { Connection } from "./connection.ts";
import { ConnectionPool, type PoolGauges } from "./connection-pool.ts";

// What no real server does on demand; the rest is tested against Redis in test/counters/kvstore-pool.test.ts.

class FakeConnection {
  closed = false;
  #onClose: (error: Error) => void = () => {};
  onClose(listener: (error: Error) => void): void {
    this.#onClose = listener;
  }
  destroy(): void {
    if (this.closed) return;
    this.closed = true;
    this.#onClose(new Error("closed"));
  }
}

function setUp(size: number) {
  const attempts: PromiseWithResolvers<Connection>[] = [];
  const gauges: PoolGauges = { cxActive: 0, cxTotal: 0, cxLocalClose: 0 };
  const lost: string[] = [];
  const connect = () => {
    const attempt = Promise.withResolvers<Connection>();
    attempts.push(attempt);
    return attempt.promise;
  };
  const pool = new ConnectionPool(size, connect, gauges, {
    free: () => {},
    overflowFailed: () => {},
    changed: () => {},
    lost: (error) => lost.push(error.message),
  });
  const end = async (index: number, connection: FakeConnection | Error) => {
    if (connection instanceof Error) attempts[index]!.reject(connection);
    else attempts[index]!.resolve(connection as unknown as Connection);
    await new Promise(setImmediate);
  };
  return { pool, attempts, gauges, lost, end };
}

const moved = new StoreError("STORE_UNAVAILABLE", "moved");

test("a restart does not wait for attempts to reach a server that hangs, and takes none of them", async () => {
  const { pool, attempts, gauges, lost, end } = setUp(3);
  pool.fill();
  assert.equal(attempts.length, 3);
  pool.restart(moved);
  assert.equal(attempts.length, 6, "the new server is connected to at once");
  const late = new FakeConnection();
  await end(0, late);
  await end(1, new Error("timed out at last"));
  assert.ok(late.closed, "who connected to the former server is sent away");
  assert.deepEqual([gauges.cxActive, attempts.length, lost], [0, 6, []]);
  for (const index of [3, 4, 5]) await end(index, new FakeConnection());
  assert.deepEqual([gauges.cxActive, pool.active, attempts.length], [3, 3, 6]);
  pool.close();
  assert.equal(gauges.cxActive, 0);
});

test("a connection that is gone before it is taken in counts as one that could not be made", async () => {
  const { pool, attempts, gauges, lost, end } = setUp(1);
  pool.fill();
  const dead = new FakeConnection();
  dead.destroy();
  await end(0, dead);
  assert.deepEqual([pool.active, pool.hasFree, gauges.cxTotal], [0, false, 0]);
  assert.match(lost.join(), /as soon as it stood/);
  assert.equal(attempts.length, 1, "the next attempt is made after a delay");
  pool.close();
});
